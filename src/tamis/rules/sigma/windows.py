"""List the channels of Windows and the numbers of their events, by the log sources of Sigma."""

from __future__ import annotations

from typing import Any

_MS = "Microsoft-Windows-"

CHANNELS: dict[str, tuple[str, ...]] = {
    "application": ("Application",),
    "application-experience": tuple(
        f"{_MS}Application-Experience/Program-{name}" for name in ("Telemetry", "Compatibility-Assistant")
    ),
    "applocker": tuple(
        f"{_MS}AppLocker/{name}"
        for name in ("MSI and Script", "EXE and DLL", "Packaged app-Deployment", "Packaged app-Execution")
    ),
    "appmodel-runtime": (f"{_MS}AppModel-Runtime/Admin",),
    "appxdeployment-server": (f"{_MS}AppXDeploymentServer/Operational",),
    "appxpackaging-om": (f"{_MS}AppxPackaging/Operational",),
    "bitlocker": (f"{_MS}BitLocker/BitLocker Management",),
    "bits-client": (f"{_MS}Bits-Client/Operational",),
    "capi2": (f"{_MS}CAPI2/Operational",),
    "certificateservicesclient-lifecycle-system": (
        f"{_MS}CertificateServicesClient-Lifecycle-System/Operational",
    ),
    "codeintegrity-operational": (f"{_MS}CodeIntegrity/Operational",),
    "dhcp": (f"{_MS}DHCP-Server/Operational",),
    "diagnosis-scripted": (f"{_MS}Diagnosis-Scripted/Operational",),
    "dns-client": (f"{_MS}DNS Client Events/Operational",),
    "dns-server": ("DNS Server",),
    "dns-server-analytic": (f"{_MS}DNS-Server/Analytical",),
    "driver-framework": (f"{_MS}DriverFrameworks-UserMode/Operational",),
    "firewall-as": (f"{_MS}Windows Firewall With Advanced Security/Firewall",),
    "hyper-v-worker": (f"{_MS}Hyper-V-Worker",),
    "iis-configuration": ("Microsoft-IIS-Configuration/Operational",),
    "kernel-event-tracing": (f"{_MS}Kernel-EventTracing",),
    "kernel-shimengine": tuple(f"{_MS}Kernel-ShimEngine/{name}" for name in ("Operational", "Diagnostic")),
    "ldap": (f"{_MS}LDAP-Client/Debug",),
    "lsa-server": (f"{_MS}LSA/Operational",),
    "microsoft-servicebus-client": ("Microsoft-ServiceBus-Client",),
    "msexchange-management": ("MSExchange Management",),
    "ntfs": (f"{_MS}Ntfs/Operational",),
    "ntlm": (f"{_MS}NTLM/Operational",),
    "openssh": ("OpenSSH/Operational",),
    "powershell": (f"{_MS}PowerShell/Operational", "PowerShellCore/Operational"),
    "powershell-classic": ("Windows PowerShell",),
    "printservice-admin": (f"{_MS}PrintService/Admin",),
    "printservice-operational": (f"{_MS}PrintService/Operational",),
    "security": ("Security",),
    "security-mitigations": tuple(f"{_MS}Security-Mitigations/{name} Mode" for name in ("Kernel", "User")),
    "sense": (f"{_MS}SENSE/Operational",),
    "servicebus-client": tuple(f"Microsoft-ServiceBus-Client/{name}" for name in ("Admin", "Operational")),
    "shell-core": (f"{_MS}Shell-Core/Operational",),
    "smbclient-connectivity": (f"{_MS}SmbClient/Connectivity",),
    "smbclient-security": (f"{_MS}SmbClient/Security",),
    "smbserver-connectivity": (f"{_MS}SMBServer/Connectivity",),
    "sysmon": (f"{_MS}Sysmon/Operational",),
    "system": ("System",),
    "taskscheduler": (f"{_MS}TaskScheduler/Operational",),
    "terminalservices-localsessionmanager": (f"{_MS}TerminalServices-LocalSessionManager/Operational",),
    "vhdmp": (f"{_MS}VHDMP/Operational",),
    "windefend": (f"{_MS}Windows Defender/Operational",),
    "wmi": (f"{_MS}WMI-Activity/Operational",),
}

# The fields that distinguish the events of a category within the channel of a service.
EVENTS: dict[str, dict[str, dict[str, Any]]] = {
    "sysmon": {
        "process_creation": {"EventID": 1},
        "file_change": {"EventID": 2},
        "network_connection": {"EventID": 3},
        "sysmon_status": {"EventID": (4, 16)},
        "process_termination": {"EventID": 5},
        "driver_load": {"EventID": 6},
        "image_load": {"EventID": 7},
        "create_remote_thread": {"EventID": 8},
        "raw_access_thread": {"EventID": 9},
        "process_access": {"EventID": 10},
        "file_event": {"EventID": 11},
        "registry_event": {"EventID": (12, 13, 14)},
        "registry_add": {"EventID": 12, "EventType": "CreateKey"},
        "registry_delete": {"EventID": 12, "EventType": ("DeleteKey", "DeleteValue")},
        "registry_set": {"EventID": 13},
        "registry_rename": {"EventID": 14},
        "create_stream_hash": {"EventID": 15},
        "pipe_created": {"EventID": (17, 18)},
        "wmi_event": {"EventID": (19, 20, 21)},
        "dns_query": {"EventID": 22},
        "file_delete": {"EventID": 23},
        "clipboard_change": {"EventID": 24},
        "process_tampering": {"EventID": 25},
        "file_delete_detected": {"EventID": 26},
        "file_block_executable": {"EventID": 27},
        "file_block_shredding": {"EventID": 28},
        "file_executable_detected": {"EventID": 29},
        "sysmon_error": {"EventID": 255},
    },
    "security": {"process_creation": {"EventID": 4688}},
    "powershell": {"ps_module": {"EventID": 4103}, "ps_script": {"EventID": 4104}},
    "powershell-classic": {
        "ps_classic_start": {"EventID": 400},
        "ps_classic_provider_start": {"EventID": 600},
        "ps_classic_script": {"EventID": 800},
    },
}
