"""Twelve complete systems checked by hand against vendors' rules: what the product's own composition must give.

Names and counts as in the seed catalog's source list of 30 November 2026; prices are demonstration prices.
"""

from typing import NamedTuple

SUPPORT = "Hardware support 3 years next business day"
OS = "Operating system and driver installation"
LARGE = "Rack and stack per server 5U and higher (two people, lift)"
SMALL = "Rack and stack per server up to 4U"
BURN_IN = "Burn-in 72 hours with report"
C19 = "Power cord C19-C20 2m"
BOOT = "M.2 NVMe boot 960GB"


class Build(NamedTuple):
    number: int
    server: str
    accelerator: str
    count: int
    nodes: int
    parts: dict[str, int]  # per server: what the recipe chooses
    lines: dict[str, int]  # whole system, beyond `parts` and the chassis
    wall_w: float
    hardware_and_services_eur: int
    total_eur: int
    weeks: int
    installation: bool = True
    cooling: tuple[str, ...] = ("air",)


SINGLE = (
    Build(
        1, "AS-2126HS-TN", "", 0, 1,
        {"EPYC 9555": 2, "DDR5 64GB DDR5-6400": 24, BOOT: 2, "PM9D3a 7.68TB U.2": 4, "AIOM 2x25G SFP28": 1},
        {"MCP2M00-A003 25G DAC 3m": 2, C19: 2, OS: 1},
        1245, 75_076, 79_560, 12, installation=False,
    ),
    Build(
        2, "SYS-551A-T", "RTX PRO 6000 Blackwell Workstation Edition", 1, 1,
        {"Xeon w7-3565X": 1, "DDR5 32GB DDR5-5600": 8, "M.2 NVMe boot 1920GB": 1, "PM9A3 3.84TB U.2": 1},
        {"RTX PRO 6000 Blackwell Workstation Edition": 1, C19: 1, OS: 1},
        1256, 31_448, 33_314, 14,
    ),
    Build(
        3, "ESC4000A-E12", "L40S", 2, 1,
        {"EPYC 9455P": 1, "DDR5 64GB DDR5-5600": 12, BOOT: 2, "PM9A3 3.84TB U.2": 2, "E810-XXVDA2 2x25G": 1},
        {"L40S": 2, "MCP2M00-A003 25G DAC 3m": 2, C19: 2, OS: 1},
        1474, 52_792, 55_939, 12, installation=False,
    ),
    Build(
        4, "SYS-421GE-TNRT3", "H200 NVL 141GB", 4, 1,
        {
            "Xeon Gold 6548Y+": 2, "DDR5 64GB DDR5-5600": 16, BOOT: 2, "PM9A3 7.68TB U.2": 4,
            "ConnectX-7 2x200G QSFP112": 1, "NVLink bridge 4-way H200 NVL": 1,
        },
        {"H200 NVL 141GB": 4, C19: 4, OS: 1},
        3979, 198_952, 210_868, 12, installation=False,
    ),
    Build(
        5, "AS-5126GS-TNRT2", "RTX PRO 6000 Blackwell Server Edition", 8, 1,
        {
            "EPYC 9555": 2, "DDR5 64GB DDR5-6400": 24, BOOT: 2, "PM9D3a 7.68TB U.2": 4,
            "ConnectX-7 2x200G QSFP112": 2,
        },
        {"RTX PRO 6000 Blackwell Server Edition": 8, C19: 6, OS: 1, LARGE: 1},
        6926, 211_168, 223_776, 16,
    ),
    Build(
        6, "SYS-821GE-TNHR", "H200 SXM5 141GB", 8, 1,
        {
            "Xeon Platinum 8568Y+": 2, "DDR5 64GB DDR5-5600": 32, BOOT: 2, "PM9A3 7.68TB U.2": 4,
            "ConnectX-7 1x400G OSFP": 8, "BlueField-3 B3220 2x200G": 1,
        },
        {"HGX H200 8-GPU board": 1, C19: 6, OS: 1, LARGE: 1, BURN_IN: 1},
        9972, 362_778, 384_443, 12,
    ),
    Build(
        7, "SYS-822GS-NBRT", "B200 SXM 180GB", 8, 1,
        {
            "Xeon 6767P": 2, "DDR5 128GB DDR5-6400": 16, BOOT: 2, "9550 PRO 3.84TB E1.S": 8,
            "ConnectX-7 1x400G OSFP": 8, "BlueField-3 B3220 2x200G": 1,
        },
        {"HGX B200 8-GPU board": 1, C19: 6, OS: 1, LARGE: 1, BURN_IN: 1},
        11_544, 444_618, 471_194, 14,
    ),
    Build(
        8, "SYS-422GS-NB3RT-LCC", "B300 SXM 288GB", 8, 1,
        {
            "Xeon 6776P": 2, "DDR5 96GB DDR5-6400": 32, BOOT: 2, "9550 PRO 7.68TB E1.S": 8,
            "BlueField-3 B3240 2x400G": 1,
        },
        {
            "HGX B300 8-GPU board": 1, C19: 4, OS: 1, SMALL: 1, BURN_IN: 1, "Server rack 48U 800x1200": 1,
            "PDU metered 3x32A 400V": 2, "In-rack CDU 80 kW": 1, "Leak detection kit (per rack)": 1,
            "Rack manifold with quick disconnects (per rack)": 1, "Liquid loop commissioning": 1,
        },
        12_149, 575_172, 609_257, 20, cooling=("air", "liquid"),
    ),
    Build(
        9, "AS-8126GS-TNMR", "Instinct MI325X", 8, 1,
        {
            "EPYC 9575F": 2, "DDR5 96GB DDR5-6400": 24, BOOT: 2, "PM9D3a 7.68TB U.2": 4,
            "Pensando Pollara 400": 8, "ConnectX-6 Dx 2x100G QSFP56": 1,
        },
        {"MI325X 8-OAM UBB": 1, C19: 6, OS: 1, LARGE: 1, BURN_IN: 1},
        12_611, 293_680, 311_199, 12,
    ),
    Build(
        12, "MIC-733-AO", "Jetson AGX Orin 64GB", 10, 10, {},
        {BOOT: 10, "RJ45 Cat6A 5m": 10, "Installation day, engineer on site": 3},
        900, 39_230, 41_359, 8,
    ),
)  # fmt: skip

MANAGEMENT = {
    "EPYC 9355P": 1, "DDR5 32GB DDR5-6400": 12, BOOT: 2, "PM9D3a 3.84TB U.2": 2, "AIOM 2x25G SFP28": 1,
}  # fmt: skip
STORAGE = "NVMe scale-out node 16x7.68TB"
LICENCE = "Parallel file system licence per TB 3 years"
UFM = "InfiniBand fabric manager (UFM class) per node 3 years"

CLUSTERS = (
    Build(
        10, "SYS-821GE-TNHR", "H200 SXM5 141GB", 8, 4, SINGLE[5].parts,
        {
            "HGX H200 8-GPU board": 4, C19: 24,
            "Quantum-2 QM9700": 1, "MMA4Z00-NS 800G twin 2xSR4": 16, "MMA4Z00-NS400 400G SR4": 32,
            "MPO-12/APC OM4 fibre 10m": 32,
            "Spectrum-2 SN3700": 2, "MFS1S00-H010V 200G AOC 10m": 20, "MCP1650-V002 200G DAC 2m": 2,
            "ConnectX-7 2x200G QSFP112": 6,
            "SN2201": 1, "RJ45 Cat6A 5m": 24, "AS-1115CS-TNR": 2, "EPYC 9355P": 2, "DDR5 32GB DDR5-6400": 24,
            BOOT: 4, "PM9D3a 3.84TB U.2": 4, "AIOM 2x25G SFP28": 2,
            STORAGE: 6, LICENCE: 576,
            "Server rack 48U 800x1200": 3, "PDU metered 3x63A 400V": 4, "PDU metered 3x32A 400V": 2,
            "KVM console 1U 17-inch with 8-port switch": 1, "Cable management set per rack": 3,
            "Rack build and cabling": 3, LARGE: 4, "Cluster software installation (scheduler, monitoring)": 1,
            "Cluster acceptance test (NCCL, storage, HPL)": 1, UFM: 4, "Project management day": 8,
            "Administrator training day": 2,
        },
        49_440, 2_396_416, 2_532_018, 12,
    ),
    Build(
        11, "SYS-822GS-NBRT", "B200 SXM 180GB", 8, 16, SINGLE[6].parts,
        {
            "HGX B200 8-GPU board": 16, C19: 96,
            "Quantum-2 QM9700": 6, "MMA4Z00-NS 800G twin 2xSR4": 192, "MMA4Z00-NS400 400G SR4": 128,
            "MPO-12/APC OM4 fibre 30m": 256,
            "Spectrum-3 SN4600": 2, "MFS1S00-H010V 200G AOC 10m": 56, "MCP1650-V002 200G DAC 2m": 4,
            "ConnectX-7 2x200G QSFP112": 12,
            "SN2201": 3, "RJ45 Cat6A 5m": 96, "AS-1115CS-TNR": 4, "EPYC 9355P": 4, "DDR5 32GB DDR5-6400": 48,
            BOOT: 8, "PM9D3a 3.84TB U.2": 8, "AIOM 2x25G SFP28": 4,
            STORAGE: 12, LICENCE: 1152,
            "Server rack 48U 800x1200": 10, "PDU metered 3x63A 400V": 16, "PDU metered 3x32A 400V": 4,
            "Rear-door heat exchanger active 45 kW": 8, "Leak detection kit (per rack)": 8,
            "KVM console 1U 17-inch with 8-port switch": 2, "Cable management set per rack": 10,
            "Rack build and cabling": 10, LARGE: 16, "Liquid loop commissioning": 8,
            "Cluster software installation (scheduler, monitoring)": 1,
            "Cluster acceptance test (NCCL, storage, HPL)": 1, UFM: 16, "Project management day": 20,
            "Administrator training day": 3,
        },
        210_170, 9_603_330, 10_159_850, 16, cooling=("air", "rear_door"),
    ),
)  # fmt: skip
