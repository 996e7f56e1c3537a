# ruff: noqa: E501
"""Output of GPU tools in the forms of published outputs; hosts, serial numbers and unique ids are invented."""

UUID = "GPU-5428af19-1e82-a38c-ee42-cdd3ad745b7e"
SERIAL = "1324020012345"

NEW_HEAD = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
"""
RULE = "+-----------------------------------------+------------------------+----------------------+\n"
PROCESSES = """
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A      4711      C   /home/jan/secret-project/bin/python         38000MiB |
+-----------------------------------------------------------------------------------------+
"""

A100_TWICE = f"""\
jan@gpu01:~$ nvidia-smi
Tue Nov 24 12:23:07 2026
{NEW_HEAD}\
|   0  NVIDIA A100-PCIE-40GB          On  |   00000000:17:00.0 Off |                    0 |
| N/A   34C    P0             38W /  250W |       4MiB /  40960MiB |      0%      Default |
|                                         |                        |             Disabled |
{RULE}\
|   1  NVIDIA A100-PCIE-40GB          On  |   00000000:65:00.0 Off |                    2 |
| N/A   36C    P0             41W /  250W |   38120MiB /  40960MiB |     12%      Default |
|                                         |                        |             Disabled |
{RULE}{PROCESSES}"""

H100_EIGHT = (
    "Tue Aug 26 15:49:52 2025\n"
    + NEW_HEAD
    + "".join(
        f"""\
|   {number}  NVIDIA H100 80GB HBM3          On  |   00000000:{bus}:00.0 Off |                    0 |
| N/A   {heat}C    P0            {watts}W /  700W |   76980MiB /  81559MiB |    100%      Default |
|                                         |                        |             Disabled |
{RULE}"""
        for number, (bus, heat, watts) in enumerate([
            ("19", 41, 662), ("3B", 37, 646), ("4C", 39, 655), ("5D", 44, 671), ("9B", 40, 660), ("BB", 38, 648),
            ("CB", 43, 668), ("DB", 42, 661),
        ])
    )
    + PROCESSES
)  # fmt: skip

RTX_3090_FOUR = """\
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.183.01             Driver Version: 535.183.01   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0 Off |                  N/A |
| 30%   38C    P8              21W / 350W |     11MiB / 24576MiB |      0%      Default |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
|   1  NVIDIA GeForce RTX 3090        Off | 00000000:21:00.0 Off |                  N/A |
| 92%   87C    P2             279W / 280W |  22345MiB / 24576MiB |     97%      Default |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
|   2  NVIDIA GeForce RTX 3090        Off | 00000000:41:00.0 Off |                  N/A |
|ERR!   ERR! ERR!            N/A / ERR!   |     11MiB / 24576MiB |    ERR!      Default |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
|   3  NVIDIA GeForce RTX 3090        Off | 00000000:61:00.0  On |                  N/A |
| 30%   40C    P8              25W / 350W |    612MiB / 24576MiB |      1%      Default |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
"""

OLD_V100 = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  On   | 00000000:06:00.0 Off |                    0 |
| N/A   35C    P0    43W / 300W |      0MiB / 32510MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
|   1  Tesla V100-SXM2...  On   | 00000000:07:00.0 Off |                    0 |
| N/A   37C    P0    44W / 300W |      0MiB / 32510MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
"""

T4_CSV = f"""\
index, name, uuid, driver_version, memory.total [MiB], memory.used [MiB], utilization.gpu [%], temperature.gpu, power.draw [W], power.limit [W], clocks_event_reasons.active
0, Tesla T4, {UUID}, 535.104.05, 15360 MiB, 120 MiB, 3 %, 41, 12.40 W, 70.00 W, 0x0000000000000001
1, Tesla T4, {UUID}, 535.104.05, 15360 MiB, 15010 MiB, 99 %, 84, 69.90 W, 70.00 W, 0x0000000000000024
2, Tesla T4, {UUID}, 535.104.05, [N/A], [Not Supported], [N/A], 41, [Unknown Error], 70.00 W, 0x0000000000000000
"""

L40S_TABLE = f"""\
{NEW_HEAD}\
|   0  NVIDIA L40S                    On  |   00000000:01:00.0 Off |                    0 |
| N/A   52C    P0            128W /  350W |   12011MiB /  46068MiB |     23%      Default |
|                                         |                        |                  N/A |
{RULE}"""

MIG = """\
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.274.02             Driver Version: 535.274.02   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA A30                     Off | 00000000:00:06.0 Off |                   On |
| N/A   47C    P0              78W / 165W |     50MiB / 24576MiB |     N/A      Default |
|                                         |                      |              Enabled |
+-----------------------------------------+----------------------+----------------------+

+---------------------------------------------------------------------------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                     BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |
|                  |                                |        ECC|                       |
|==================+================================+===========+=======================|
|  0    3   0   0  |              12MiB /  5952MiB  | 14      0 |  1   0    1    0    0 |
|                  |               0MiB /  8191MiB  |           |                       |
+------------------+--------------------------------+-----------+-----------------------+
"""

QUERY = f"""\

==============NVSMI LOG==============

Timestamp                                 : Sat Mar  4 04:55:25 2026
Driver Version                            : 580.126.09
CUDA Version                              : 13.0

Attached GPUs                             : 2
GPU 00000000:07:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    Product Brand                         : NVIDIA
    Serial Number                         : {SERIAL}
    GPU UUID                              : {UUID}
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
    MIG Device
        Index                             : 0
        FB Memory Usage
            Total                         : 40192 MiB
            Used                          : 37 MiB
    FB Memory Usage
        Total                             : 81920 MiB
        Reserved                          : 643 MiB
        Used                              : 71254 MiB
        Free                              : 10022 MiB
    BAR1 Memory Usage
        Total                             : 131072 MiB
        Used                              : 1 MiB
    Utilization
        Gpu                               : 98 %
        Memory                            : 61 %
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Active
            HW Power Brake                : Not Active
    ECC Errors
        Volatile
            SRAM Correctable              : 4
            SRAM Uncorrectable            : 1
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 2
        Aggregate
            SRAM Uncorrectable            : 9
    Temperature
        GPU Current Temp                  : 86 C
        GPU Slowdown Temp                 : 92 C
        Memory Current Temp               : 93 C
    GPU Power Readings
        Average Power Draw                : 398.52 W
        Current Power Limit               : 400.00 W
        Default Power Limit               : 400.00 W
    Module Power Readings
        Power Draw                        : N/A
    Processes
        GPU instance ID                   : N/A
        Process ID                        : 4711
            Type                          : C
            Name                          : /home/jan/secret-project/train.py
            Used GPU Memory               : 71234 MiB

GPU 00000000:0B:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    Serial Number                         : {SERIAL}
    GPU Reset Status
        Reset Required                    : Yes
    MIG Device
        FB Memory Usage
            Used                          : 37 MiB
    FB Memory Usage
        Total                             : 81920 MiB
        Used                              : Unknown Error
    Utilization
        Gpu                               : N/A
    Power Readings
        Power Draw                        : [Not Supported]
        Power Limit                       : 400.00 W
"""

LISTED = f"""\
GPU 0: NVIDIA H200 (UUID: {UUID})
GPU 1: NVIDIA H200 (UUID: {UUID})
GPU 2: NVIDIA A100-PCIE-40GB (UUID: {UUID})
  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
"""

ROCM_OLD = """\
======================= ROCm System Management Interface =======================
================================= Concise Info =================================
GPU  Temp   AvgPwr  SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
0    31.0c  43.0W   800Mhz  1600Mhz  0%   auto  300.0W    0%   7%
================================================================================
============================= End of ROCm SMI Log ==============================
"""

ROCM_NEW = """\
============================================= ROCm System Management Interface =============================================
======================================================= Concise Info =======================================================
Device  Node  IDs              Temp        Power     Partitions          SCLK     MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)
============================================================================================================================
0       2     0x74a1,   47056  71.0°C      682.0W    NPS1, SPX, 0        1653Mhz  1300Mhz  0%   auto  750.0W  43%    100%
1       3     0x74a1,   47057  40.0°C      131.0W    NPS1, SPX, 0        132Mhz   900Mhz   0%   auto  750.0W  0%     0%
============================================================================================================================
=================================================== End of ROCm SMI Log ====================================================
"""

ROCM_NAMED = (
    ROCM_NEW
    + """\
============================ ROCm System Management Interface ============================
====================================== Product Info ======================================
GPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X OAM
GPU[0]\t\t: Card Model: \t\t0x74a1
GPU[1]\t\t: Card Series: \t\tAMD Instinct MI300X OAM
GPU[0]\t\t: VRAM Total Memory (B): 206141652992
GPU[0]\t\t: VRAM Total Used Memory (B): 88000000000
==========================================================================================
"""
)

AMD_SMI = """\
GPU  POWER  PWR_CAP   GPU_T   MEM_T   GFX_CLK   GFX%   MEM%  MEM_CLOCK
  0  251 W   1000 W   55 °C   43 °C   144 MHz    0 %    0 %   1900 MHz
  1  258 W   1000 W   58 °C   47 °C   163 MHz   64 %    0 %   1900 MHz
"""
AMD_SMI_MEMORY = """\
GPU  XCP  POWER  GPU_T  MEM_T  GFX_CLK  GFX%  MEM%  ENC%  DEC%  VRAM_USAGE
3    0  183 W  82 °C  84 °C  3036 MHz  100 %  5 %  N/A  0 %  23.6/ 24.0 GB
"""
AMD_STATIC = """\
GPU: 0
    ASIC:
        MARKET_NAME: AMD Instinct MI300X
        VENDOR_ID: 0x1002
        ASIC_SERIAL: 0x4711471147114711
    VRAM:
        TYPE: HBM3
        SIZE: 196592 MB
"""

AMD_SMI_TABLE = """\
+------------------------------------------------------------------------------+
| AMD-SMI 26.0.2+39589fda      amdgpu version: 6.16.13  ROCm version: 7.0.2    |
| Platform: Linux Baremetal                                                    |
|-------------------------------------+----------------------------------------|
| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |
| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |
|=====================================+========================================|
| 0000:0d:00.0 ...Instinct MI300X OAM | 12 %     49 °C   2           644/750 W |
|   0       1       7        SPX/NPS1 | 88 %       N/A        149820/196592 MB |
|-------------------------------------+----------------------------------------|
| 0000:26:00.0    AMD Instinct MI300X | N/A        N/A   0           N/A/750 W |
|   1       3       5        CPX/NPS1 | N/A        N/A           283/196592 MB |
|-------------------------------------+----------------------------------------|
| 0000:26:00.1    AMD Instinct MI300X | N/A        N/A   N/A         N/A/N/A W |
|   2       4       5        CPX/NPS1 | N/A        N/A                     N/A |
+-------------------------------------+----------------------------------------+
+------------------------------------------------------------------------------+
| Processes:                                                                   |
|  GPU        PID  Process Name          GTT_MEM  VRAM_MEM  MEM_USAGE     CU % |
|==============================================================================|
|    0       4711  secret                  0.0 B    146 GB     146 GB      N/A |
+------------------------------------------------------------------------------+
"""
AMD_METRIC = """\
GPU: 0
    USAGE:
        GFX_ACTIVITY: 34 %
        UMC_ACTIVITY: 1 %
    POWER:
        SOCKET_POWER: 320 W
        THROTTLE_STATUS: UNTHROTTLED
    TEMPERATURE:
        EDGE: N/A
        HOTSPOT: 61 °C
    MEM_USAGE:
        TOTAL_VRAM: 196592 MB
        USED_VRAM: 283 MB
        FREE_VRAM: 196309 MB
"""
ROCM_PARTS = "".join(
    [*ROCM_NEW.splitlines(keepends=True)[:5],
     *(f"{n}       {n + 2}     0x74a1,   4705{n}  42.0°C      131.0W    NPS1, CPX, {n}        132Mhz   900Mhz   0%   auto  750.0W  0%     0%\n"
       for n in range(8))]
)  # fmt: skip
ORIN = """\
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 540.4.0                Driver Version: 540.4.0      CUDA Version: 12.6     |
|-----------------------------------------+----------------------+----------------------+
|   0  Orin (nvgpu)                  N/A  | N/A              N/A |                  N/A |
| N/A   N/A  N/A               N/A /  N/A | Not Supported        |     N/A          N/A |
+-----------------------------------------+----------------------+----------------------+
"""
TABLE_610 = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.62                 KMD Version: 610.62        CUDA UMD Version: 13.3     |
+-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA GeForce RTX 4090      WDDM  |   00000000:01:00.0  On |                  Off |
|  0%   41C    P8             19W /  450W |    1755MiB /  24564MiB |      3%      Default |
+-----------------------------------------+------------------------+----------------------+
"""
QUERY_610 = """\
==============NVSMI LOG==============

Timestamp                                 : Tue Jun 30 02:02:51 2026
KMD Version                               : 610.43.02
CUDA UMD Version                          : 13.3

Attached GPUs                             : 1
GPU 00000000:01:00.0
    Product Name                          : NVIDIA L4
    FB Memory Usage
        Total                             : 23034 MiB
"""
LOOPED_CSV = """\
index, memory.total [MiB], utilization.gpu [%]
0, 23034 MiB, 97 %
1, 23034 MiB, 5 %
0, 23034 MiB, 91 %
1, 23034 MiB, 7 %
"""

LOST = "Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost. Reboot the system to recover this GPU\n"

ALL = {
    "a100": A100_TWICE, "h100": H100_EIGHT, "3090": RTX_3090_FOUR, "v100": OLD_V100, "t4": T4_CSV, "l40s": L40S_TABLE,
    "mig": MIG, "query": QUERY, "list": LISTED, "rocm-old": ROCM_OLD, "rocm-new": ROCM_NEW, "rocm-named": ROCM_NAMED,
    "amd-smi": AMD_SMI, "amd-smi-memory": AMD_SMI_MEMORY, "amd-static": AMD_STATIC, "lost": LOST,
    "amd-smi-table": AMD_SMI_TABLE, "amd-metric": AMD_METRIC, "rocm-parts": ROCM_PARTS, "orin": ORIN,
    "610": TABLE_610, "query-610": QUERY_610, "looped": LOOPED_CSV,
}  # fmt: skip
