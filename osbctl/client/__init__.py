"""The client of running service brokers: connections, their options, and the catalog endpoint."""
