"""What a preset wants of the machine, and what TRL is told of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rl_gym.training.recipe import Section

__all__ = ["MachineSection"]


class MachineSection(Section):
    """Where a run trains. With several processes each holds what `sharding` leaves it; all of that is accelerate's.

    A job is one training, or the evaluation of one model; its limits are those of all its processes here together.
    """

    device: Annotated[Literal["any", "gpu"], Field(description="gpu refuses to start where there is none")] = "any"
    activation_checkpointing: Annotated[
        bool, Field(description="compute activations again in the backward pass instead of keeping them")
    ] = False
    vllm: Annotated[
        Literal["off", "colocate", "server"],
        Field(description="who generates in GRPO: the trainer, vLLM on the same GPU, or a vLLM server of TRL's"),
    ] = "off"
    vllm_share: Annotated[float, Field(gt=0, lt=1, description="share of the GPU that a colocated vLLM takes")] = 0.3
    vllm_server: Annotated[str, Field(max_length=200, description="address of that server, http://HOST:PORT")] = ""
    machines: Annotated[int, Field(ge=1, le=256, description="machines that train together")] = 1
    processes: Annotated[int, Field(ge=1, le=16, description="training processes of each, one a GPU")] = 1
    address: Annotated[
        str,
        Field(
            max_length=253,
            pattern=r"^[A-Za-z0-9.:_-]*$",
            description="host name or IP of the machine that the run is started on",
        ),
    ] = ""
    port: Annotated[int, Field(ge=1024, le=65_535, description="port there, at which they find each other")] = 29_500
    sharding: Annotated[
        Literal["none", "fsdp", "deepspeed"], Field(description="how weights and optimiser are shared out")
    ] = "none"
    memory_gib: Annotated[
        float | None,
        Field(gt=0, le=65_536, description="resident memory at which a job is stopped; none where not given (Linux)"),
    ] = None
    job_seconds: Annotated[
        float | None, Field(gt=0, le=31_536_000, description="time after which a job is stopped; none where not given")
    ] = None

    @property
    def world(self) -> int:
        """Training processes of all machines together."""
        return self.machines * self.processes

    @model_validator(mode="after")
    def _every_key_acts(self) -> MachineSection:
        if self.vllm != "off" and self.device != "gpu":
            raise ValueError(f"machine.vllm {self.vllm} needs machine.device gpu")
        if (self.vllm == "server") != bool(self.vllm_server):
            raise ValueError("machine.vllm server and machine.vllm_server belong together: the one needs the other")
        if self.sharding != "none" and self.world == 1:
            raise ValueError(f"machine.sharding {self.sharding} needs several processes: see machine.processes")
        if self.machines == 1 and self.address:
            raise ValueError("machine.address is for several machines: see machine.machines")
        return self

    def generation(self, context: int) -> dict[str, Any]:
        """What GRPOConfig is told of who generates; `context` bounds prompt and completion, in tokens."""
        if self.vllm == "off":
            return {"cache_implementation": "static"}
        if self.vllm == "server":
            return {"use_vllm": True, "vllm_mode": "server", "vllm_server_base_url": self.vllm_server}
        return {
            "use_vllm": True,
            "vllm_mode": "colocate",
            "vllm_gpu_memory_utilization": self.vllm_share,
            "vllm_max_model_length": context,
        }
