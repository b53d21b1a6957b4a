"""From a document to findings: the JSON Schemas, the rules, and what each platform would answer."""
