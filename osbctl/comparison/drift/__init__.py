"""What a platform has stored of a broker's catalog, against what the broker says.

The stored side is the old one: the changes are those that the platform would meet at its next refresh.
"""
