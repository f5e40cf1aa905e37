"""The addresses that a board's firmware is built with: what can't be one is refused."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from tierv.boards.__main__ import main


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bitstream", "arty", "--mac", "10:e2:d5"], "mac_address must be like .*, not '10:e2:d5'"),
        (["firmware", "ecpix5", "--mac", "ff:ff:ff:ff:ff:ff"], "not 'ff:ff:ff:ff:ff:ff'"),
        (["firmware", "ecpix5", "--mac", ""], "mac_address must be like .*, not ''"),
        (["bitstream", "arty", "--ip", "192.168.1"], r"be an IPv4 address, not '192\.168\.1'"),
        (["firmware", "ecpix5", "--ip", "192.168.1.255"], r"local_ip .*, not '192\.168\.1\.255'"),
        (["bitstream", "de0_nano", "--ip", "10.0.0.1"], "must have Ethernet .* de0_nano has not"),
        (["firmware", "ecpix5", "--file", __file__, "--ip", "10.0.0.1"], "exclude it"),
    ],
)
def test_addresses_that_cannot_be_are_refused_before_anything_is_built(words, message, elsewhere):
    done = CliRunner().invoke(main, words)
    text = " ".join(done.output.split())
    assert done.exit_code == 1
    assert re.search(message, text), text
    assert not elsewhere.exists()
