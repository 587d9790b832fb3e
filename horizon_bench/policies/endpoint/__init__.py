"""Chat endpoints that speak OpenAI's protocol, as policies. Torch-free."""

from horizon_bench.policies.endpoint.client import EndpointClient, EndpointError
from horizon_bench.policies.endpoint.policy import EndpointPolicy
from horizon_bench.policies.endpoint.settings import EndpointSettings
from horizon_bench.policies.endpoint.usage import Usage

__all__ = ["EndpointClient", "EndpointError", "EndpointPolicy", "EndpointSettings", "Usage"]
