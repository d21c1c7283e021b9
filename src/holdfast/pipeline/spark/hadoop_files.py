"""Small files on any file system that Spark can use: a local folder, HDFS, an object store."""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession


class HadoopFiles:
    """Reads, deletes and locks files through Spark's file systems."""

    def __init__(self, session: SparkSession) -> None:
        context = session.sparkContext
        self._jvm: Any = context._jvm
        self._configuration = context._jsc.hadoopConfiguration()

    def read_text(self, location: str) -> str:
        path = self._path(location)
        stream = path.getFileSystem(self._configuration).open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def exists(self, location: str) -> bool:
        path = self._path(location)
        return bool(path.getFileSystem(self._configuration).exists(path))

    def find(self, pattern: str) -> list[str]:
        """The files that match a pattern, such as `/in/*.parquet`, sorted by name."""
        path = self._path(pattern)
        matches = path.getFileSystem(self._configuration).globStatus(path) or ()
        return sorted(str(each.getPath().toString()) for each in matches if each.isFile())

    def sha256(self, location: str) -> str:
        """The SHA-256 of a file's content, in hexadecimal."""
        path = self._path(location)
        stream = path.getFileSystem(self._configuration).open(path)
        try:
            return str(self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()

    def delete(self, location: str) -> None:
        """Delete a folder with its content; does nothing if it does not exist."""
        path = self._path(location)
        path.getFileSystem(self._configuration).delete(path, True)

    def lock(self, location: str) -> "FileLock | None":
        """Lock a local file while this JVM runs; returns None if it is already locked.

        The JVM holds the lock, not Python, because the JVM does the writing: after a kill -9 of
        Python it continues for a moment.
        """
        path = self._path(location)
        path.getFileSystem(self._configuration).mkdirs(path.getParent())
        file = self._jvm.java.io.RandomAccessFile(path.toUri().getPath(), "rw")
        if self._try_lock(file):
            return FileLock(file)
        file.close()
        return None

    def is_local(self, location: str) -> bool:
        path = self._path(location)
        return bool(path.getFileSystem(self._configuration).getScheme() == "file")

    def _try_lock(self, file: Any) -> bool:
        try:
            return file.getChannel().tryLock() is not None
        except Py4JJavaError as error:
            if "OverlappingFileLockException" in str(error.java_exception):
                return False  # this JVM has the lock
            raise

    def _path(self, location: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(location)


class FileLock:
    """An acquired lock."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def release(self) -> None:
        self._file.close()
