"""What the models of answers have in common."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """An answer. It keeps fields that a newer server adds.

    Validators are built when a model is first used, which halves the time that the import takes.
    """

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True, protected_namespaces=())
