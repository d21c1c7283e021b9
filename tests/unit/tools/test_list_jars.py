"""The list of jars that users fetch is that of `pom.xml`."""

from tools.list_jars import TARGET, document


def test_the_list_names_the_jars_of_the_pom_with_their_hashes() -> None:
    assert TARGET.read_text() == document(), "run python -m tools.list_jars"
