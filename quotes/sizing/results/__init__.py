"""What sizing says: the nouns between the workload and the price. All frozen, all serialisable.

In the order of the computation: `loads` (or `refusals`), `systems`, their `money`, the `choice`, and the `outlook` of a
proposal worked out in full.
"""

from quotes.sizing.results.choice import Candidate, SizedSystem, Sizing, Tier
from quotes.sizing.results.loads import (
    EngineSettings,
    Estimate,
    HostNeed,
    Layout,
    LoadOption,
    MemoryBreakdown,
    ModelToRun,
    Portion,
    Speed,
    TrainingRecipe,
    Verdict,
    readable_rate,
)
from quotes.sizing.results.money import (
    CloudAlternative,
    CostYears,
    Economics,
    Lease,
    OwnedShare,
    RentPlan,
    TokenCost,
    UseCurve,
)
from quotes.sizing.results.outlook import (
    CliffMap,
    CliffStep,
    GrowthPhase,
    PlacedWay,
    SiteAlternative,
    SiteLimits,
    SplitLayout,
    Swing,
    Tornado,
)
from quotes.sizing.results.refusals import Kind, Refusal, Stage
from quotes.sizing.results.systems import (
    BillLine,
    FabricPlan,
    LineRole,
    NetworkPlan,
    NodeBuild,
    Placed,
    Power,
    RackPlacement,
    RoomNeeds,
    StoragePlan,
    SystemBuild,
)

__all__ = [
    "BillLine", "Candidate", "CliffMap", "CliffStep", "CloudAlternative", "CostYears", "Economics",
    "EngineSettings", "Estimate", "FabricPlan", "GrowthPhase", "HostNeed", "Kind", "Layout", "Lease",
    "LineRole", "LoadOption", "MemoryBreakdown", "ModelToRun", "NetworkPlan", "NodeBuild", "OwnedShare",
    "Placed", "PlacedWay", "Portion", "Power", "RackPlacement", "Refusal", "RentPlan", "RoomNeeds",
    "SiteAlternative", "SiteLimits", "SizedSystem", "Sizing", "Speed", "SplitLayout", "Stage",
    "StoragePlan", "Swing", "SystemBuild", "Tier", "TokenCost", "Tornado", "TrainingRecipe", "UseCurve",
    "Verdict", "readable_rate",
]  # fmt: skip
