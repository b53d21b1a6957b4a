"""From a catalog to something that people read: a table, a page of Markdown, a service offering in full."""
