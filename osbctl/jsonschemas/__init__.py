"""What is known of JSON Schema, whatever schema it is: those of a catalog, of a house, of a plan's parameters."""
