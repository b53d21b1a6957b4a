"""SAP Service Manager."""
