"""The extras of the package, `pip install 'holdfast[NAME]'`, and what each part imports of them."""

from importlib.util import find_spec

TYPE_CHECKING = False  # the broker, which must start quickly, imports this module
if TYPE_CHECKING:
    from collections.abc import Iterable

MODULES = {
    "broker": ("cramjam", "crc32c", "cryptography", "prometheus_client", "uvloop"),
    "guard": ("prometheus_client",),
    "pipeline": (
        "cramjam", "crc32c", "delta", "deltalake", "pandas", "prometheus_client", "pyarrow",
        "pyspark",
    ),
    "processing": ("arroyo",),
    "web": (
        "fastapi", "jinja2", "jsonpath_ng", "prometheus_client", "python_multipart", "starlette",
        "uvicorn",
    ),
}  # fmt: skip
"""The modules of each extra's packages."""


def missing(extras: "Iterable[str]") -> list[str]:
    """Those of the extras that are not installed, or not as a whole."""
    return [e for e in extras if any(find_spec(module) is None for module in MODULES[e])]


def extra_of(module: str, preferred: str | None = None) -> str | None:
    """The extra that installs a module; `preferred`, if it does."""
    names = [name for name, modules in MODULES.items() if module.partition(".")[0] in modules]
    return preferred if preferred in names else next(iter(names), None)


def install_command(extras: "Iterable[str]") -> str:
    """The command that installs these extras."""
    return f"pip install 'holdfast[{','.join(extras)}]'"
