"""The software bill of materials, in CycloneDX's form: every locked package and every jar.

Packages and jars that run with the product are `required`; those for tests, benchmarks, checks and
documentation are `excluded`, which is how CycloneDX calls what is not shipped.
"""

from importlib.metadata import version

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from tools.supply_chain.locked import PROJECT, Jar, Package, jars, needed, packages

_PRODUCT_JARS = "spark"
"""The profile of `pom.xml` that the pipeline runs with; the other is for tests and benchmarks."""


def sbom() -> str:
    """The document as JSON."""
    bom = Bom()
    product = Component(
        name="holdfast",
        version=version("holdfast"),
        type=ComponentType.APPLICATION,
        bom_ref="holdfast",
        purl=PackageURL("pypi", name="holdfast", version=version("holdfast")),
    )
    bom.metadata.component = product
    found = packages()
    shipped = needed(found)
    components = {name: _package(one, name in shipped) for name, one in found.items()}
    for component in components.values():
        bom.components.add(component)
    direct = [components[one.name] for one in found.values() if PROJECT in one.via]
    for jar in jars():
        component = _jar(jar)
        bom.components.add(component)
        if component.scope is ComponentScope.REQUIRED:
            direct.append(component)
    bom.register_dependency(product, direct)
    for name, component in components.items():
        below = [components[one.name] for one in found.values() if name in one.via]
        bom.register_dependency(component, below)
    return make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)


def _package(one: Package, shipped: bool) -> Component:
    url = PackageURL("pypi", name=one.name, version=one.version)
    return _component(url, shipped)


def _jar(one: Jar) -> Component:
    url = PackageURL("maven", one.group, one.artifact, one.version, {"type": "jar"})
    return _component(url, one.profile == _PRODUCT_JARS)


def _component(url: PackageURL, shipped: bool) -> Component:
    return Component(
        name=url.name,
        group=url.namespace,
        version=url.version,
        type=ComponentType.LIBRARY,
        scope=ComponentScope.REQUIRED if shipped else ComponentScope.EXCLUDED,
        bom_ref=url.to_string(),
        purl=url,
    )
