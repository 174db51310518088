"""The package: threads, explain, versions, how the library is found, its errors."""
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import mygemm
from mygemm._library import ABI
from support import check_product, random_matrix

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/static"))

from abi_headers import abi_headers  # noqa: E402


def run_python(program, **environment):
    path = os.pathsep.join(sys.path)
    return subprocess.run([sys.executable, "-c", program], text=True, capture_output=True,
                          check=False, timeout=120,
                          env={**os.environ, "PYTHONPATH": path, **environment})


def test_threads_have_handles_of_their_own():
    a, b = random_matrix(64, 80), random_matrix(80, 48, seed=2)
    expected, failures = mygemm.sgemm(a, b), []

    def work():
        try:
            for _ in range(50):
                assert np.array_equal(mygemm.sgemm(a, b), expected)
                with pytest.raises(mygemm.Error, match="C overlaps A"):
                    mygemm.sgemm(b.T, b, out=b[:48])
                assert np.array_equal(mygemm.transpose(a), a.T)
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    check_product(expected, a, b)


def test_version_is_that_of_the_header():
    header = abi_headers(SOURCE)
    numbers = re.findall(r"#define MYGEMM_VERSION_\w+ (\d+)", header)
    assert mygemm.version() == mygemm.__version__ == ".".join(numbers)
    assert ABI == tuple(map(int, numbers[:2]))


def test_every_declared_constant_is_that_of_the_header():
    from mygemm import _library as ours
    header = abi_headers(SOURCE)
    number = {name: int(text) for name, text in re.findall(r"MYGEMM_(\w+) = (\d+)", header)}
    assert ours.DATA_TYPES == {"float32": number["R_32F"], "float16": number["R_16F"],
                               "bfloat16": number["R_16BF"]}
    assert ours.MATH_MODES == {"default": number["MATH_DEFAULT"], "strict": number["MATH_STRICT"],
                               "fast": number["MATH_FAST"]}
    assert ours.INDEX_TYPES == {"int32": number["INDEX_32I"], "int64": number["INDEX_64I"]}
    for name in "BACKEND_AUTO", "BACKEND_CUDA", "BACKEND_HOST", "OP_N", "OP_T", "SOFTMAX", \
            "LOG_SOFTMAX", "POINTER_MODE_HOST", "POINTER_MODE_DEVICE":
        assert getattr(ours, name) == number[name]


def test_declarations_are_those_of_the_header():
    from mygemm._library import _ARGUMENTS
    header = abi_headers(SOURCE)
    kinds = {"c_int": r"mygemm\w+_t|int", "c_long": "int64_t", "c_ulong": "size_t",
             "c_float": "float"}
    for name, arguments in _ARGUMENTS.items():
        declared = re.search(rf"mygemm_{name}\(([^;]*)\);", header)[1].split(",")
        assert len(declared) == len(arguments), name
        for text, kind in zip(declared, arguments):
            c_type = "pointer" if "*" in text or "Handle_t" in text or "Stream_t" in text \
                else text.split()[0]
            if c_type == "pointer":
                assert kind.__name__.startswith(("c_void_p", "c_char_p", "LP_")), (name, text)
            else:
                assert re.fullmatch(kinds[kind.__name__], c_type), (name, text)


def test_explain():
    text = mygemm.explain("sgemm", 1000, 2000, 500, transb=True, device="H200")
    assert re.match(r"chosen: \w+ \(estimated [\d.]+ us", text)
    assert "--transa T --transb N -m 2000 -n 1000 -k 500" in text and "H200, sm_90" in text
    assert "--transa N --transb T" in mygemm.explain("sgemm", 8, 8, 8, transa=True, device="host")
    assert "--xtype f16" in mygemm.explain("softmax", 10, 20, dtype=np.float16, device="A100")
    assert "--ytype f32" in mygemm.explain("softmax", 1, 2, dtype="float16", out_dtype="float32")
    assert "--direction backward" in mygemm.explain("softmax_backward", 10, 20, device="H200")
    assert "--element-size 8 --rows 3 --cols 5" in mygemm.explain("transpose", 3, 5, element_size=8)
    assert "naive" in mygemm.explain("sgemm", 0, 0, 0, batch=0)
    strict = mygemm.explain("sgemm", 8192, 8192, 8192, math="strict", device="H200")
    assert strict.startswith("chosen:")
    fast = mygemm.explain("sgemm", 8192, 8192, 8192, math="fast", device="H200")
    assert fast.startswith("chosen: tf32x3_")


@pytest.mark.parametrize("exception, sentence, arguments, options", [
    (TypeError, "transb = 'N' is neither", ("sgemm", 1, 2, 3), {"transb": "N"}),
    (ValueError, "op = 'dgemm' is none of: sgemm, gemm, grouped_matmul", ("dgemm", 1), {}),
    (TypeError, "unexpected keyword argument 'dtype'", ("transpose", 1, 2), {"dtype": "float32"}),
    (TypeError, r"explain\('sgemm'\): missing a required argument: 'k'", ("sgemm", 1, 2), {}),
    (TypeError, r"explain\('sgemm'\): too many positional", ("sgemm", 1, 2, 3, 4), {}),
    (TypeError, "cols = 2.5 must be an integer", ("softmax", 1, 2.5), {}),
    (ValueError, "m = -1 must not be negative", ("sgemm", -1, 2, 3), {}),
    (ValueError, "n = -2 must not be negative", ("gemm", 1, -2, 3), {}),
    (ValueError, "cols = 18446744073709551617 does not fit the library's 64-bit sizes",
     ("softmax", 1, 2**64 + 1), {}),
    (ValueError, "does not fit the library's 64-bit sizes", ("sgemm", 2**40, 2**40, 1), {}),
    (ValueError, "rows = -1 must not be negative", ("softmax", -1, 2), {}),
    (mygemm.Error, "element_size = 3 is none of", ("transpose", 1, 2), {"element_size": 3}),
    (mygemm.Error, "device = GTX is none of: T4, A100", ("softmax", 1, 2), {"device": "GTX"}),
])
def test_explain_refusals(exception, sentence, arguments, options):
    with pytest.raises(exception, match=sentence):
        mygemm.explain(*arguments, **options)


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(mygemm.Error("a sentence", 7)))
    assert (str(error), error.status) == ("a sentence", 7)


def test_math_mode_of_the_environment():
    program = ("import mygemm, numpy as np; from mygemm._handles import handle_for\n"
               "from mygemm._arrays import HOST; print(handle_for(HOST).math)")
    for mode, number in ("default", "0"), ("strict", "1"), ("fast", "2"):
        assert run_python(program, MYGEMM_MATH=mode).stdout.strip() == number
    answer = run_python(program, MYGEMM_MATH="loose")
    assert "mygemm._errors.Error: mygemm: MYGEMM_MATH = loose is none of" in answer.stderr


def test_numpy_arrays_are_the_hosts_whatever_the_environment_says():
    program = ("import mygemm, numpy as np; x = np.eye(3, dtype=np.float32)\n"
               "assert (mygemm.sgemm(x, x) == x).all()")
    answer = run_python(program, MYGEMM_BACKEND="cuda")
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("library, sentence", [
    ("/nowhere/libmygemm.so", "ImportError: libmygemm could not be loaded: /nowhere/libmygemm.so"),
    ("libm.so.6", "ImportError: libm.so.6 is not a libmygemm of this version"),
])
def test_a_wrong_library_is_refused(library, sentence):
    answer = run_python("import mygemm", MYGEMM_LIBRARY=library)
    assert answer.returncode == 1 and sentence in answer.stderr


def test_another_version_is_refused(tmp_path):
    stub, library = tmp_path / "stub.c", tmp_path / "libmygemm.so"
    functions = re.findall(r"mygemm_\w+(?=;)", (SOURCE / "cmake/symbols.map").read_text())
    bodies = {name: "return 0;" for name in functions} | {"mygemm_version": "return 200;"}
    stub.write_text("".join(f"int {name}(void) {{ {body} }}\n" for name, body in bodies.items()))
    subprocess.run(["cc", "-shared", "-fPIC", stub, "-o", library], check=True)
    answer = run_python("import mygemm", MYGEMM_LIBRARY=str(library))
    assert "libmygemm.so is version 0.2; this package is for 0.1" in answer.stderr


def test_the_example_of_attention():
    program = SOURCE / "bindings/python/examples/attention.py"
    answer = run_python(program.read_text())
    difference = re.match(r"largest difference from float64: (\S+)\nchosen: ", answer.stdout)
    assert difference and float(difference[1]) < 1e-5, answer.stderr


def test_no_array_library_is_imported():
    program = ("import sys, mygemm; mygemm.explain('softmax', 3, 4)\n"
               "print([m for m in ('numpy', 'torch', 'cupy') if m in sys.modules])")
    assert run_python(program).stdout.strip() == "[]"
