"""The types into which cloud-service-broker reads a brokerpak and the variables of its operator.

Sources: internal/brokerpak/manifest/parser.go, pkg/providers/tf/definition.go, pkg/broker/variables.go and example.go,
pkg/brokerpak/config.go, pkg/broker/catalog.go; brokerapi, domain/service_catalog.go.
"""

from typing import Any

from osbctl.sources.folder.go_yaml import ENUM, StructType

_TEXTS = ["string"]
_ANY, _BY_NAME = {"*": "any"}, {"*": "string"}


def _struct(name: str, texts: str, **fields: Any) -> StructType:
    """A struct of which `texts` are the fields of type `string`."""
    return StructType(name, dict.fromkeys(texts.split(), "string") | fields)


MANIFEST_TYPE = _struct(
    "manifest.parser",
    "name version",
    packversion="int",
    metadata=_BY_NAME,
    platforms=[_struct("platform.Platform", "os arch")],
    terraform_binaries=[
        _struct("manifest.TerraformResource", "name version source provider url_template", default="bool")
    ],
    service_definitions=_TEXTS,
    parameters=[_struct("manifest.Parameter", "name description")],
    required_env_variables=_TEXTS,
    env_config_mapping=_BY_NAME,
    terraform_upgrade_path=[_struct("manifest.TerraformUpgradePath", "version")],
    terraform_state_provider_replacements=_BY_NAME,
)
_PLAN = _struct(
    "tf.TfServiceDefinitionV1Plan",
    "name id description display_name",
    bullets=_TEXTS,
    free="bool",
    properties=_ANY,
    provision_overrides=_ANY,
    bind_overrides=_ANY,
)
_VARIABLE = _struct(
    "broker.BrokerVariable",
    "field_name type details tf_attribute tf_attribute_skip",
    required="bool",
    nullable="bool",
    default="any",
    enum=ENUM,
    constraints=_ANY,
    prohibit_update="bool",
)
_MAPPING = _struct("tf.ImportParameterMapping", "tf_variable parameter_name")
_ACTION = _struct(
    "tf.TfServiceDefinitionV1Action",
    "template template_ref",
    plan_inputs=[_VARIABLE],
    user_inputs=[_VARIABLE],
    # `details` and `required` have no effect here, but many brokerpaks copy them from inputs.
    computed_inputs=[
        _struct(
            "varcontext.DefaultVariable", "name type", default="any", overwrite="bool", details="any", required="any"
        )
    ],
    outputs=[_VARIABLE],
    templates=_BY_NAME,
    template_refs=_BY_NAME,
    import_inputs=[_struct("broker.ImportVariable", "field_name type details tf_resource")],
    import_parameter_mappings=[_MAPPING],
    import_parameters_to_delete=_TEXTS,
    import_parameters_to_add=[_MAPPING],
)
_EXAMPLE = _struct(
    "broker.ServiceExample", "name description plan_id", provision_params=_ANY, bind_params=_ANY, bind_can_fail="bool"
)
DEFINITION_TYPE = _struct(
    "tf.TfServiceDefinitionV1",
    "name id description display_name image_url documentation_url provider_display_name support_url",
    version="int",
    tags=_TEXTS,
    plans=[_PLAN],
    provision=_ACTION,
    bind=_ACTION,
    examples=[_EXAMPLE],
    plan_updateable="bool",
    requiredenvvars=_TEXTS,
)
"""A definition, pkg/providers/tf/definition.go. `RequiredEnvVars` has no name of its own, so Go lower-cases it."""

_SCHEMA = StructType("Schema", {"parameters": _ANY})
_COST = StructType("ServicePlanCost", {"amount": {"*": "number"}, "unit": "string"})
PLAN_METADATA_TYPE = StructType(
    "ServicePlanMetadata", {"displayName": "string", "bullets": ["string"], "costs": [_COST]}
)
_SCHEMAS = StructType(
    "ServiceSchemas",
    {
        "service_instance": StructType("ServiceInstanceSchema", {"create": _SCHEMA, "update": _SCHEMA}),
        "service_binding": StructType("ServiceBindingSchema", {"create": _SCHEMA}),
    },
)
_MAINTENANCE = {"public": {"*": "string"}, "private": "string", "version": "string", "description": "string"}
PLAN_TYPE = StructType(
    "ServicePlan",
    {
        **dict.fromkeys(("id", "name", "description"), "string"),
        **dict.fromkeys(("free", "bindable", "plan_updateable"), "bool"),
        "metadata": PLAN_METADATA_TYPE,
        "schemas": _SCHEMAS,
        "maximum_polling_duration": "int",
        "maintenance_info": StructType("MaintenanceInfo", _MAINTENANCE),
        **dict.fromkeys(("service_properties", "provision_overrides", "bind_overrides"), _ANY),
    },
)
"""A plan in a variable: brokerapi, domain/service_catalog.go; pkg/broker/catalog.go."""

CONFIG_TYPE = StructType("", {"global_labels": [StructType("label", {"key": "string", "value": "string"})]})
SOURCES_TYPE = {
    "*": StructType(
        "BrokerpakSourceConfig",
        dict.fromkeys(("uri", "service_prefix", "excluded_services", "config", "notes"), "string"),
    )
}
"""Two variables of pkg/brokerpak/config.go."""
