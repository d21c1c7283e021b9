"""What Spark has planned: the ends of a batch's ranges, from the query's checkpoint."""

import json

from holdfast.pipeline.hadoop_files import HadoopFiles

_FORM = "v1"


def planned_ends(files: HadoopFiles, checkpoint: str, batch: int, topic: str) -> dict[int, int]:
    """The offset after the last one of each partition in that batch.

    Not the rows tell this: markers and aborted records end most ranges of a transactional producer,
    and a range without visible rows shows none.
    """
    form, _, *sources = files.read_text(f"{checkpoint}/offsets/{batch}").splitlines()
    if form != _FORM or len(sources) != 1:
        raise ValueError(
            f"Spark's offset log has an unknown form: {form!r}, {len(sources)} sources"
        )
    return {int(p): int(end) for p, end in json.loads(sources[0])[topic].items()}
