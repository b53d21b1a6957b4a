"""The rules, grouped by subject; `osbctl.validation.checks` loads each module here."""
