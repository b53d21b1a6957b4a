"""Names as the Cloud Controller compares those that it has stored."""

_STRIPPED = "\0\t\n\v\f\r "


def stored(name: str) -> str:
    """`name` without outer white space, in lower case: of these, a service offering has each plan's once.

    Sources: cloud_controller_ng 3bbba906, app/models/services/service_plan.rb and service.rb (`strip_attributes`, which
    is Ruby's `String#strip`), and the columns' types, `citext` on PostgreSQL (`lower()`) and `utf8_general_ci` on
    MySQL, which compares without accents, too (db/migrations/20130131184954_new_initial_schema.rb).
    """
    return name.strip(_STRIPPED).lower()
