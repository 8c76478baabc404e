"""Runs the nfx program and builds FIX messages for it. NFX_PROGRAM names the binary."""
import os
import subprocess

PROGRAM = os.environ["NFX_PROGRAM"]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
# Long enough for a loaded machine; nothing waits for it to pass.
PATIENCE_S = 60

HEADER = [(35, "D"), (34, 2), (49, "CLIENT"), (56, "VENUE"), (52, "20240102-12:00:00.000")]
ORDER = HEADER + [(11, "abc"), (55, "IBM"), (54, 1), (60, "20240102-12:00:00"), (38, 100), (40, 2), (44, "12.5")]


def fix(fields, begin="FIX.4.4", separator="\x01", sum_off=0, length_off=0):
    """One message as bytes; sum_off and length_off make CheckSum and BodyLength wrong by so much."""
    body = "".join(f"{tag}={value}\x01" for tag, value in fields)
    text = f"8={begin}\x019={len(body.encode('latin-1')) + length_off}\x01{body}"
    text += f"10={(sum(text.encode('latin-1')) + sum_off) % 256:03d}\x01"
    return text.replace("\x01", separator).encode("latin-1")


def run(*arguments, data=b"", environment=None):
    """Exit code, standard output and standard error."""
    result = subprocess.run([PROGRAM, *arguments], input=data, capture_output=True, timeout=PATIENCE_S,
                            env={**ENVIRONMENT, **(environment or {})}, check=False)
    return result.returncode, result.stdout.decode("utf-8"), result.stderr.decode("utf-8")
