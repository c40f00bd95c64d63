"""Asks the Spare Cores Keeper service for servers and their prices.

Only these functions, [`recommend_server`][resource_tracker_native.ResourceTracker.recommend_server] and reports with cloud
discovery use it. KEEPER_API_URL names another service.
"""
from __future__ import annotations

from logging import getLogger
from math import ceil
from typing import Any, Dict, List, Optional

__all__ = ["keeper_request", "get_instance_price", "get_recommended_cloud_servers"]

logger = getLogger(__name__)

ENDPOINT = "https://keeper.sparecores.net"


def keeper_request(path: str, timeout: int = 2, endpoint: Optional[str] = None) -> Any:
    """Returns the decoded answer, or None if none arrives in time."""
    from json import load
    from os import environ
    from urllib.parse import urljoin
    from urllib.request import Request, urlopen

    address = urljoin(endpoint or environ.get("KEEPER_API_URL") or ENDPOINT, path)
    try:
        with urlopen(Request(address, headers={"X-Application-ID": "resource-tracker"}), timeout=timeout) as answer:
            return load(answer)
    except (OSError, ValueError) as problem:
        logger.warning("%s cannot be asked: %s", address, problem)
        return None


def get_instance_price(vendor_id: str, region_id: str, instance_type: str) -> Optional[float]:
    """Returns USD per hour of a Linux machine on demand: in the region, else in any other; None if unknown."""
    prices = keeper_request(f"/server/{vendor_id}/{instance_type}/prices")
    if not isinstance(prices, list):
        return None
    on_demand = [price for price in prices if isinstance(price, dict) and price.get("allocation") == "ondemand"
                 and price.get("operating_system") == "Linux"]
    in_region = [price for price in on_demand if price.get("region_id") == region_id]
    return next((price.get("price") for price in in_region + on_demand), None)


def _gib(mib: float) -> float:
    """Converts to GiB, the unit of the service, rounded up."""
    return ceil(mib / 1024 * 1000) / 1000


def get_recommended_cloud_servers(
    cpu: int, memory: int, gpu: Optional[int] = None, vram: Optional[int] = None, n: int = 10, **filters: Any
) -> Optional[List[Dict[str, Any]]]:
    """Returns the n cheapest servers with at least these resources, cheapest first; None if the service cannot be
    asked.

    Args:
        cpu: vCPUs.
        memory: MiB.
        gpu: GPUs.
        vram: MiB.
        n: how many.
        **filters: further parameters of the service (vendor_id, compliance_framework_id, ...).
    """
    from urllib.parse import urlencode

    query: Dict[str, Any] = {"vcpus_min": cpu, "memory_min": _gib(memory)}
    if gpu:
        query["gpu_min"] = gpu
    if vram:
        query["gpu_memory_total"] = _gib(vram)
    query.update(filters, order_by="min_price_ondemand", order_dir="asc", limit=n)
    answer = keeper_request("/servers?" + urlencode(query, doseq=True))
    return answer if isinstance(answer, list) else None
