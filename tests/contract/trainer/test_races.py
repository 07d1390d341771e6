"""Many workers at once, on either database: nobody has what another has, and everything is done once."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from rl_gym.infra.database import Database, open_database
from rl_gym.wire import ErrorBody, RunSpec
from services.trainer.delivery import Delivery, StagePlan
from services.trainer.leases import Lease, LeaseLostError, Terms

PLAN = [StagePlan("prepare"), StagePlan("sft", "gpu"), StagePlan("gate")]
FAULT = ErrorBody(error="infrastructure_error", detail="a fault")
WORKERS = 6
RUNS = 4


class Floor:
    """Who is at work, as the workers themselves see it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self.together: list[str] = []
        self.accepted: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def at(self, *places: str) -> Iterator[None]:
        with self._lock:
            self._busy.update(places)
            self.together += [place for place in places if self._busy[place] > 1]
        try:
            yield
        finally:
            with self._lock:
                self._busy.subtract(places)

    def accept(self, lease: Lease) -> None:
        with self._lock:
            self.accepted[lease.run, lease.stage] += 1


def worker(address: str, seed: int, floor: Floor, made: list[str]) -> None:
    """Claims whatever there is, and then finishes, fails, gives back, or finishes twice, until all is done."""
    database = open_database(address)
    delivery = Delivery(database, Terms(attempts=10**6, retry_seconds=0), lambda run, stage: None)
    rng = random.Random(seed)
    while open_runs := [run for run in made if delivery.run(run).state != "done"]:
        stage = rng.choice(PLAN)
        lease = delivery.claim(rng.choice(open_runs), stage.name, f"worker {seed}")
        if lease is None:
            continue
        with floor.at(f"{lease.run} {lease.stage}", *([stage.resource] if stage.resource else [])):
            delivery.heartbeat(lease)
            act = rng.random()
        # What another may have from here on is given up only now.
        if act < 0.2:
            delivery.fail(lease, FAULT)
        elif act < 0.4:
            delivery.give_back(lease)
        else:
            delivery.finish(lease, "0123456789ab")
            floor.accept(lease)
    database.close()


def test_whatever_workers_do_at_once_each_stage_is_done_once(address: str, database: Database) -> None:
    delivery = Delivery(database, Terms(attempts=10**6, retry_seconds=0), lambda run, stage: None)
    made = [delivery.submit(RunSpec(preset="nano"), {}, PLAN).id for _ in range(RUNS)]
    floor = Floor()
    with ThreadPoolExecutor(WORKERS) as pool:
        for future in [pool.submit(worker, address, seed, floor, made) for seed in range(WORKERS)]:
            future.result()
    assert floor.together == []
    assert floor.accepted == {(run, stage.name): 1 for run in made for stage in PLAN}
    for run in made:
        events = delivery.events(run)
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert Counter(event.stage for event in events if event.state == "done") == Counter(
            ["prepare", "sft", "gate", None]
        )


def test_of_many_who_want_a_stage_one_gets_it(database: Database) -> None:
    delivery = Delivery(database, Terms(), lambda run, stage: None)
    run = delivery.submit(RunSpec(preset="nano"), {}, PLAN).id
    start = threading.Barrier(8)

    def claim(number: int) -> Lease | None:
        start.wait()
        return delivery.claim(run, "prepare", str(number))

    with ThreadPoolExecutor(8) as pool:
        leases = [lease for lease in pool.map(claim, range(8)) if lease]
    assert [lease.token for lease in leases] == [1]


def test_of_many_results_of_replaced_attempts_one_counts(database: Database) -> None:
    """Leases expire at once here, so that every attempt but the last is a zombie by the time that it finishes."""
    delivery = Delivery(database, Terms(lease_seconds=0, attempts=100), lambda run, stage: None)
    run = delivery.submit(RunSpec(preset="nano"), {}, PLAN[:1]).id
    leases: list[Lease] = []
    while len(leases) < 8:
        delivery.reconcile()
        lease = delivery.claim(run, "prepare", "ana")
        assert lease is not None
        leases.append(lease)
    start = threading.Barrier(8)

    def finish(lease: Lease) -> bool:
        start.wait()
        try:
            delivery.finish(lease, f"{lease.token:012x}")
        except LeaseLostError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        accepted = list(pool.map(finish, leases))
    assert accepted == [False] * 7 + [True]
    assert delivery.run(run).stages[0].manifest_digest == f"{8:012x}"


def test_an_expiry_and_a_result_at_the_same_time_are_never_both(database: Database) -> None:
    delivery = Delivery(database, Terms(lease_seconds=0, attempts=1), lambda run, stage: None)
    for _ in range(10):
        run = delivery.submit(RunSpec(preset="nano"), {}, PLAN[:1]).id
        lease = delivery.claim(run, "prepare", "ana")
        assert lease is not None
        with ThreadPoolExecutor(2) as pool:
            finished = pool.submit(delivery.finish, lease, "0123456789ab")
            pool.submit(delivery.reconcile).result()
            error = finished.exception()
        assert delivery.run(run).state == ("done" if error is None else "dead")
        assert error is None or isinstance(error, LeaseLostError)
