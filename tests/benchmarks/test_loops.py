"""Loops cut out of assembly, and what is counted in them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "benchmarks").exists():
    pytest.skip("the tests run away from the tree", allow_module_level=True)
sys.path.insert(0, str(ROOT))
from benchmarks.throughput import loops  # noqa: E402

ASSEMBLY = """
	.text
_ZN4muse3dotEPKfS1_i:
.LFB1:
	cmp	w2, 15
	movi	v0.4s, 0	// a comment
.L3:
	add	x9, x9, 1
.L20:
	ldp	q19, q16, [x3]
	ldr	q18, [x4], 16
	fmla	v0.4s, v19.4s, v18.4s
	fmla	v0.4s, v16.4s, v18.4s
	fmul	v1.4s, v19.4s, v18.4s
	str	q1, [x5], 16
	cmp	x5, x3
	bne	.L20
	cbnz	w2, .L3
	fadd	v0.4s, v0.4s, v0.4s
	ret
	.size	_ZN4muse3dotEPKfS1_i, .-_ZN4muse3dotEPKfS1_i
_ZN4muse4axpyEfPKfPfi:
	vmovups	(%rdi), %zmm1
.L7:
	vfmadd213ps	(%rsi,%rax), %zmm0, %zmm1
	addq	$64, %rax
	jne	.L7
	ret
"""


def test_functions_are_told_apart():
    found = loops.functions(ASSEMBLY)
    assert list(found) == ["_ZN4muse3dotEPKfS1_i", "_ZN4muse4axpyEfPKfPfi"]
    assert found["_ZN4muse3dotEPKfS1_i"][:3] == [".LFB1:", "cmp w2, 15", "movi v0.4s, 0"]


def test_an_inner_loop_is_cut_out_of_the_one_around_it():
    inner = list(loops.loops(loops.functions(ASSEMBLY)["_ZN4muse3dotEPKfS1_i"]))
    assert len(inner) == 1
    assert inner[0].body[0] == "ldp q19, q16, [x3]"
    assert inner[0].body[-1] == "bne .L20"
    assert inner[0].before == ("cmp w2, 15", "movi v0.4s, 0", "add x9, x9, 1")
    assert inner[0].behind == ("cbnz w2, .L3", "fadd v0.4s, v0.4s, v0.4s")


def test_multiply_adds_are_counted_on_both_architectures():
    code = loops.functions(ASSEMBLY)
    assert loops.main_loop(code, loops.KERNELS["dot"]).multiply_adds == 2
    assert loops.main_loop(code, loops.KERNELS["axpy"]).multiply_adds == 1


def test_widths_say_how_many_cycles_a_loop_takes():
    loop = loops.main_loop(loops.functions(ASSEMBLY), loops.KERNELS["dot"])
    assert loop.counted(("ld",)) == 3
    assert loop.counted(("st",)) == 1
    assert loop.chain == 2
    assert loops.counted_cycles(loop) == 8.0  # two multiply-adds of four cycles, one behind the other
    apart = loops.Loop((), ("ldp q1, q2, [x3]", "ldp q3, q4, [x4]", "fmla v0.4s, v1.4s, v3.4s"), ())
    assert loops.counted_cycles(apart) == 4.0
    loads = loops.Loop((), ("ldp q1, q2, [x3]", "ldp q3, q4, [x4]", "ldr q5, [x5]"), ())
    assert loops.counted_cycles(loads) == pytest.approx(5 / 3)


def test_flags_are_those_of_the_build():
    build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    for isa, (_, flags) in loops.SETS.items():
        for flag in flags:
            assert re.search(rf"(?<![\w-]){re.escape(flag.removeprefix('-D'))}(?![\w-])", build), (isa, flag)
