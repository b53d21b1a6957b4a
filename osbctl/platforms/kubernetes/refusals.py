"""Refusal rules of Service Catalog; `verdict` reports them."""

from osbctl.platforms.golang import wrong_type

REFUSALS = {
    "type": wrong_type(
        "Kubernetes Service Catalog", "kubernetes-retired/service-catalog b37daf589e77, pkg/controller, pkg/apis"
    ),
    "name": """An id or a name does not fit Service Catalog.

    They become names of Kubernetes objects, of 1 to 63 bytes in UTF-8; any character may stand there.
    Bad: name: small-small-small-small-small-small-small-small-small-small-plan
    Good: name: small
    Source: kubernetes-retired/service-catalog b37daf589e77, pkg/controller, pkg/apis""",
    "unique": """Two service offerings, or two plans of whichever service offering, have one id.

    An object of Kubernetes is named by the id, and there is one of a name in the whole cluster. What stands before
    the second stays created.
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: kubernetes-retired/service-catalog b37daf589e77, pkg/controller, pkg/apis""",
    "no-plan": """Service Catalog requires at least one plan in each class.
    Bad: plans: []
    Good: plans: [{name: small}]
    Source: kubernetes-retired/service-catalog b37daf589e77, pkg/controller, pkg/apis""",
    "description": """Service Catalog requires a description for each class and plan.
    Bad: description: ""
    Good: description: A database.
    Source: kubernetes-retired/service-catalog b37daf589e77, pkg/controller, pkg/apis""",
}
