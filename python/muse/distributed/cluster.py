"""What a training asks of a Dask cluster: who is there, and tasks whose large results never pass the scheduler."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError
from typing import Any

from muse.base.optional import needed

__all__ = ["Again", "Cluster", "Lost", "check_client", "local_cluster"]

logger = logging.getLogger("muse")

_WHAT = "muse.distributed.train"
_LOOK = 0.5  # seconds between two looks at what is under way
_FAREWELL = 10.0  # seconds that workers have to tidy up at the end
_RETURN = 60.0  # seconds in which a scheduler or worker may come back


class Lost(Exception):
    """What the workers kept of a training is gone, or nobody knows where it is."""


class Again(Exception):
    """What is under way is to be asked for once more, of others."""


def check_client(client: Any) -> None:
    """A TypeError or ValueError for what is no client that can be waited for."""
    if not isinstance(client, needed("distributed", _WHAT, "dask").Client):
        raise TypeError(f"client must be a distributed.Client, such as Client(cluster); got {client!r:.80}")
    if client.asynchronous:
        raise TypeError("client must not be asynchronous: call train from an ordinary function, with Client(...)")
    if client.status in ("closed", "closing"):
        raise ValueError("the client is closed; give one that is connected")


class Cluster:
    """A Dask client.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds after which a worker that says nothing counts as gone.
    """

    def __init__(self, client: Any, patience: float) -> None:
        self._library = needed("distributed", _WHAT, "dask")
        self.client, self._patience = client, patience
        self._silent: set[str] = set()
        self._futures: weakref.WeakSet[Any] = weakref.WeakSet()

    @contextlib.contextmanager
    def keeping_copies(self) -> Iterator[None]:
        """What is on several workers stays there: Dask would throw all copies away but one, and then a worker dies."""
        manager = self.client.amm
        was_running = bool(manager.running())
        try:
            yield
        finally:
            with contextlib.suppress(OSError, TimeoutError, CancelledError):
                if was_running and self.client.status == "running":
                    manager.start()

    def keep_copies(self) -> None:
        """See `keeping_copies`; a scheduler that has come back does not know of it."""
        self.client.amm.stop()

    def threads(self) -> int:
        """Threads of the workers, of the least of them."""
        return min((int(about["nthreads"]) for about in self._about().values()), default=1)

    def _about(self) -> dict[str, Any]:
        if self.client.status != "running":
            raise Lost("the scheduler does not answer")
        info: dict[str, Any] | None = self.client.scheduler_info(n_workers=-1).get("workers")
        if info is None:  # of a client that is being closed
            raise Lost("the scheduler does not answer")
        return info

    def workers(self) -> list[str]:
        """Addresses of the workers that answer; those that do not are begun anew.

        What they keep, and what was asked of them, is then made anew by others; the scheduler would wait for minutes
        by itself.
        """
        about = self._about()
        last = max((worker["last_seen"] for worker in about.values()), default=0.0)
        silent = {name for name, worker in about.items() if last - worker["last_seen"] > self._patience}
        for name in silent - self._silent:
            logger.warning("worker %s has not answered for %.0f s, and is begun anew", name, self._patience)
            threading.Thread(target=self._begin_anew, args=(name, bool(about[name].get("nanny"))), daemon=True).start()
        self._silent = silent
        return sorted(about.keys() - silent)

    def _begin_anew(self, name: str, has_nanny: bool) -> None:
        with contextlib.suppress(Exception):  # if it cannot be, it stays left out
            if has_nanny:
                self.client.restart_workers([name], timeout=_RETURN, raise_for_error=False)
            else:
                self.client.sync(self.client.scheduler.unregister, address=name, stimulus_id="muse-silent")

    def wait_for_workers(self) -> list[str]:
        """The same, when there is one at least.

        Raises
        ------
        ConnectionError
            If there is none within a minute.
        """
        deadline = time.monotonic() + _RETURN
        while True:
            with contextlib.suppress(Lost):
                if found := self.workers():
                    return found
            if time.monotonic() > deadline:
                raise ConnectionError(
                    "the Dask cluster has had no scheduler or no worker for a minute; start it again, and call train "
                    "again with the same checkpoint= to go on from there"
                )
            time.sleep(_LOOK)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """What goes wrong because the scheduler, or a worker on the other end, is gone is a `Lost`."""
        lost = (CancelledError, TimeoutError, OSError, self._library.scheduler.KilledWorker)
        try:
            yield
        except Exception as error:
            if isinstance(error, lost) or self.client.status != "running":
                raise Lost(f"{type(error).__name__}: {str(error)[:200]}") from error
            raise

    def submit(
        self, task: Callable[..., Any], *args: Any, key: str, home: str | None = None, only: bool = False
    ) -> Any:
        """Ask for a task, of the worker `home` if it can be (or of it `only`)."""
        where = {} if home is None else {"workers": [home], "allow_other_workers": not only}
        with self._asking():
            future = self.client.submit(task, *args, key=key, pure=False, **where)
        self._futures.add(future)
        return future

    def end(self, task: Callable[..., Any], *args: Any) -> None:
        """Let go of all that was asked for, and have every worker do `task`, but wait for none that does not answer."""

        def all_of_it() -> None:
            with contextlib.suppress(Exception):  # what is lost need not be let go of
                for future in list(self._futures):
                    future.release()
                self.client.run(task, *args, on_error="ignore")

        if self.client.status == "running":
            thread = threading.Thread(target=all_of_it, daemon=True)
            thread.start()
            thread.join(_FAREWELL)

    def spread(self, value: Any) -> Any:
        """A future of `value`, which goes to all workers, from here to them."""
        for direct in (True, False):  # a client outside of the cluster's network cannot reach the workers
            try:  # in a list, since the members of a tuple or dict would be spread one by one
                future = self.client.scatter([value], broadcast=True, direct=direct, hash=False)[0]
            except Exception as error:  # of many kinds, where a worker goes at that moment
                if not direct:
                    raise Lost(f"{type(error).__name__}: {str(error)[:200]}") from error
            else:
                self._futures.add(future)
                return future
        raise AssertionError

    def result(self, future: Any, look: Callable[[], object] | None = None, *, direct: bool = False) -> Any:
        """The result of a future; `look` is called now and then until it is there.

        Raises
        ------
        Lost
            If the cluster has lost it.
        Exception
            What the task has raised.
        """
        while not future.done():
            with contextlib.suppress(TimeoutError, CancelledError):
                self._library.wait(future, timeout=_LOOK)
            if self.client.status != "running":
                raise Lost("the scheduler does not answer")
            if look is not None and not future.done():
                look()
        if future.status == "error":
            with self._asking():
                error = future.exception()
            if isinstance(error, (self._library.scheduler.KilledWorker, CancelledError)):
                raise Lost(f"{type(error).__name__}: {str(error)[:200]}") from error
            raise error
        if future.status != "finished":
            raise Lost("the cluster has cancelled a task")
        with self._asking():
            return self.client.gather(future, direct=True) if direct else future.result()

    def gone(self, addresses: Collection[str]) -> Callable[[], None]:
        """A look that raises `Again` when one of these workers does not answer any more."""

        def look() -> None:
            if not set(addresses) <= set(self.workers()):
                raise Again

        return look


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes on this machine, each of one thread, which ends with the block."""
    library, dask = needed("distributed", _WHAT, "dask"), needed("dask", _WHAT, "dask")
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # it imports the script that began it
        raise RuntimeError(
            "muse.distributed.train starts processes, which import this script again: put the call under "
            'if __name__ == "__main__":'
        )
    config = {
        "distributed.worker.daemon": True, "distributed.scheduler.work-stealing": False,
        "distributed.deploy.lost-worker-timeout": "1 hour",  # of workers that are killed, and begun anew
    }  # fmt: skip
    with (
        dask.config.set(config),
        library.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        library.Client(cluster) as client,
    ):  # fmt: skip
        yield client
