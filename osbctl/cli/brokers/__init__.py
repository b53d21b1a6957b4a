"""The commands of `osbctl brokers`."""
