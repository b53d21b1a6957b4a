"""The commands for Service Catalog.

Source: svcat `provision` and `bind` (kubernetes-retired/service-catalog, docs/cli.md).
"""

from osbctl.platforms.commands import BINDING, INSTANCE, Manifest, Purpose, Tool

# svcat has no command for updates; the manifest is applied again.
_SVCAT = {
    Purpose.CREATE: f"svcat provision {INSTANCE} --class {{service}} --plan {{plan}}[ --params-json {{parameters}}]",
    Purpose.BIND: f"svcat bind {INSTANCE} --name {BINDING}[ --params-json {{parameters}}]",
}
_HEAD = "apiVersion: servicecatalog.k8s.io/v1beta1\nkind: {}\nmetadata:\n  name: {}\nspec:\n"
_INSTANCE = Manifest(
    "instance.yaml",
    "kubectl apply -f instance.yaml",
    _HEAD.format("ServiceInstance", INSTANCE)
    + "  clusterServiceClassExternalName: {service}\n  clusterServicePlanExternalName: {plan}\n{parameters}",
)
_BINDING = Manifest(
    "binding.yaml",
    "kubectl apply -f binding.yaml",
    _HEAD.format("ServiceBinding", BINDING) + f"  instanceRef:\n    name: {INSTANCE}\n{{parameters}}",
)

TOOLS = (
    Tool("svcat", _SVCAT, reads_files=False),
    Tool("kubectl", lambda _order, purpose: _BINDING if purpose is Purpose.BIND else _INSTANCE),
)
