"""@track_resources: records what a step uses, keeps it as an artifact and shows it on a card.

Nothing here may fail a step: an error becomes a line in the step's log and on the card.
"""
import functools
import os
import threading

from metaflow.decorators import StepDecorator


def harmless(hook):
    """Wraps a hook so that its exceptions end here."""
    @functools.wraps(hook)
    def call(self, *arguments, **keywords):
        try:
            return hook(self, *arguments, **keywords)
        except Exception as problem:
            self._note(f"{hook.__name__}: {type(problem).__name__}: {problem}")
            return None

    return call


class TrackResourcesDecorator(StepDecorator):
    """
    Records what this step and its processes use.

    Parameters
    ----------
    interval : float, default 1.0
        Seconds between samples.
    artifact_name : str, default 'resource_tracker_data'
        The artifact with the result.
    create_card : bool, default True
        Show the result on a card.
    refresh : float, default 60.0
        Seconds between two cards of a step that runs; 0: the card appears at its end. Metaflow starts a process for each
        card, whose CPU time (about 2 s) counts for the step.
    discover_cloud : bool, default False
        Ask the clouds' metadata services where this runs.
    catalogue : str, optional, default None
        A price list of servers (CSV or SQLite): the card offers the cheapest that fits.
    instance : str, optional, default None
        The step's server, as vendor/region/type of that list; default: the one that discover_cloud finds.
    usd_per_hour : float, optional, default None
        The machine's price: the card shows the step's cost.
    """

    name = "track_resources"
    defaults = {"interval": 1.0, "artifact_name": "resource_tracker_data", "create_card": True, "refresh": 60.0, "discover_cloud": False,
                "catalogue": None, "instance": None, "usd_per_hour": None}

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self._logger = None
        self._recorder = self._problem = self._run_id = self._pid = self._step_name = None
        self._stored = self._refreshed = False
        self._refresher = None
        self._ended = threading.Event()

    def _note(self, text):
        try:
            self._logger(f"[@track_resources] {text}", timestamp=False)
        except Exception:
            pass  # the log is gone as well

    def _is_on(self, name):
        """Reads a switch. On the command line (--with track_resources:create_card=false) values may be texts."""
        return str(self.attributes[name]).lower() not in ("false", "0", "no", "none", "")

    # ---- before the step ----

    @harmless
    def step_init(self, flow, graph, step_name, decorators, environment, flow_datastore, logger):
        self._logger = logger
        self._guard_joins(flow)
        self._card_id = f"resource_tracker_{step_name}"
        if self._is_on("create_card") and self._own_card(decorators) is None:
            self._add_card(step_name, decorators)

    def _own_card(self, decorators):
        for one in decorators:
            if one.name == "card" and one.attributes.get("id") == self._card_id:
                return one
        return None

    def _shown_card(self, flow):
        return self._own_card(getattr(flow, self._step_name).decorators) if self._is_on("create_card") else None

    def _add_card(self, step_name, decorators):
        from metaflow.plugins.cards.card_decorator import CardDecorator

        card = CardDecorator(attributes={"type": "tracked_resources", "id": self._card_id,
                                         "options": {"artifact_name": self.attributes["artifact_name"]}})
        if hasattr(card, "external_init"):
            card.external_init()
        decorators.append(card)
        # User cards that were initialised before this decorator have counted the cards without this one.
        CardDecorator._set_card_counts_per_step(step_name, sum(isinstance(one, CardDecorator) for one in decorators))

    def _guard_joins(self, flow):
        """
        Leaves the artifact out of merge_artifacts() unless the join asks for it by name. Tracked branches have
        different artifacts under one name, and Metaflow would refuse to merge them.
        """
        name, merge = self.attributes["artifact_name"], flow.merge_artifacts

        @functools.wraps(merge)
        def merge_artifacts(inputs, exclude=None, include=None):
            if not include and name not in flow.__dict__ and self._differs(name, inputs):
                exclude = [*(exclude or []), name]
            return merge(inputs, exclude=exclude, include=include)

        flow.merge_artifacts = merge_artifacts

    @staticmethod
    def _differs(name, inputs):
        try:
            return len({dict(one._datastore.items()).get(name) for one in inputs} - {None}) > 1
        except Exception:
            return True

    @harmless
    def task_pre_step(self, step_name, task_datastore, metadata, run_id, task_id, flow, graph, retry_count,
                      max_user_code_retries, ubf_context, inputs):
        self._run_id, self._pid, self._step_name = run_id, os.getpid(), step_name
        try:
            from resource_tracker_native.metaflow import StepRecorder

            self._recorder = StepRecorder(
                float(self.attributes["interval"]), self._is_on("discover_cloud"), self._prices(), job_name=f"{flow.name}/{step_name}",
                external_run_id=run_id, stage_name=step_name, task_name=task_id, orchestrator="Metaflow")
        except Exception as problem:
            self._problem = problem
            raise

    # ---- while it runs ----

    def task_decorate(self, step_func, flow, graph, retry_count, max_user_code_retries, ubf_context):
        self._start_refresher(flow)
        return step_func

    @harmless
    def _start_refresher(self, flow):
        card = self._shown_card(flow)
        pause = float(self.attributes["refresh"])
        if card is None or self._recorder is None:
            return
        if pause > 0:
            self._refresher = threading.Thread(target=self._refresh_until_end, args=(card, pause), daemon=True)
            self._refresher.start()

    def _refresh_until_end(self, card, pause):
        while not self._ended.wait(pause) and self._pid == os.getpid():
            self._refresh(card, pause)

    @harmless
    def _refresh(self, card, pause):
        """Lets Metaflow make the card of now. It returns at once; while an earlier card is being made, it does nothing."""
        self._refreshed = True
        card.card_creator.create(
            mode="render_runtime", card_uuid=card._card_uuid, user_set_card_id=card._user_set_card_id, runtime_card=True,
            decorator_attributes=card.attributes, logger=self._logger,
            card_options={**card.card_options, "recording": self._recorder.path, "refresh": pause})

    def _end_refresher(self, flow):
        self._ended.set()
        if self._refresher is not None:
            self._refresher.join()
        card = self._shown_card(flow)
        if card is not None and not self._refreshed:
            # Metaflow tells viewers of the last card by one more process, which a step without earlier cards does not need.
            card._is_runtime_card = False

    def _prices(self):
        """Returns the prices for the card. Paths are absolute, because another process may make the card; a price
        from the command line may be a text.
        """
        price, catalogue = self.attributes["usd_per_hour"], self.attributes["catalogue"]
        return {"usd_per_hour": None if price is None else float(price), "instance": self.attributes["instance"],
                "catalogue": os.path.abspath(catalogue) if catalogue else None}

    # ---- after it ----

    def _result(self, flow, step_name, failed):
        """Returns the artifact: the result, or an error artifact if tracking failed."""
        if self._recorder is None:
            raise self._problem or RuntimeError("the step was never recorded")
        # The step is over; the work below must not count.
        self._recorder.stop(failed)
        from resource_tracker_native.metaflow.history import earlier_runs

        artifact_name = self.attributes["artifact_name"]
        return self._recorder.finish(failed, earlier_runs(flow.name, step_name, self._run_id, artifact_name, self._note))

    @harmless
    def _store(self, flow, step_name, failed):
        if self._pid != os.getpid():
            return
        self._end_refresher(flow)
        if self._stored:
            # Another decorator has failed since.
            getattr(flow, self.attributes["artifact_name"])["step_failed"] = failed
            return
        try:
            result = self._result(flow, step_name, failed)
        except Exception as problem:
            self._note(f"{type(problem).__name__}: {problem}")
            result = self._error(problem)
        finally:
            if self._recorder is not None:
                self._recorder.close()
        setattr(flow, self.attributes["artifact_name"], result)
        self._stored = True

    @staticmethod
    def _error(problem):
        try:
            from resource_tracker_native.metaflow import error_artifact

            return error_artifact(problem)
        except Exception:
            return {"error": {"error_type": type(problem).__name__, "error_message": str(problem), "traceback": ""}}

    def task_post_step(self, step_name, flow, graph, retry_count, max_user_code_retries):
        self._store(flow, step_name, failed=False)

    def task_exception(self, exception, step_name, flow, graph, retry_count, max_user_code_retries):
        self._store(flow, step_name, failed=True)
        return False

    @harmless
    def task_finished(self, step_name, flow, graph, is_task_ok, retry_count, max_user_code_retries):
        """Makes a failed step's card. Metaflow makes cards of successful steps only, and a failed step needs its card
        most.
        """
        card = None if is_task_ok else self._shown_card(flow)
        if card is not None:
            card.card_creator.create(
                mode="render", final=True, card_uuid=card._card_uuid, user_set_card_id=card._user_set_card_id,
                runtime_card=card._is_runtime_card, decorator_attributes=card.attributes, card_options=card.card_options,
                logger=self._logger)
