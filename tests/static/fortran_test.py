"""Static test: the Fortran modules say what mygemm.h says: constants, functions, every argument.

Usage: fortran_test.py SOURCE_DIR [unittest options]. Reads bindings/fortran/mygemm_abi.f90,
mygemm_gemm.f90, mygemm_grouped.f90, mygemm_cross_entropy.f90 and mygemm_softmax.f90, which have the
C interface as it is, the names that the module mygemm makes public, and the program of the consumer
tests, which calls each of them.
"""
import pathlib
import re
import sys
import unittest

from abi_headers import abi_headers

SOURCE = None  # set from the command line
# Fortran's names have no case, so these modes would be functions.
RENAMED = {"MYGEMM_SOFTMAX": "MYGEMM_SOFTMAX_MODE", "MYGEMM_LOG_SOFTMAX": "MYGEMM_LOG_SOFTMAX_MODE"}
# Fortran has one function for two of C's: mygemm_create(), with the configuration as options.
CREATE, CREATE_WITH_CONFIG = "mygemm_create", "mygemm_create_with_config"

# A parameter of C, without its name, and how Fortran must declare it.
BY_VALUE = {"mygemmHandle_t": "type(c_ptr)", "mygemmStream_t": "type(c_ptr)",
            "float": "real(c_float)", "int": "integer(c_int)", "int64_t": "integer(c_int64_t)",
            "size_t": "integer(c_size_t)",
            **{f"mygemm{enum}_t": "integer(c_int)" for enum in
               ("Status", "Operation", "DataType", "SoftmaxMode", "MathMode", "PointerMode",
                "Invariance", "Backend")}}
MEMORY = {"const float *", "float *", "const void *", "void *", "char *", "const float *const *",
          "float *const *"}
BY_REFERENCE = {"const char *": {"character(kind=c_char), intent(in), optional"},
                "const mygemmConfig_t *": {"type(mygemm_config), intent(in)"},
                "const mygemmGemm_t *": {"type(mygemm_gemm_t), intent(in)"},
                "const mygemmGroups_t *": {"type(mygemm_groups_t), intent(in)"},
                "const mygemmCrossEntropy_t *": {"type(mygemm_cross_entropy_t), intent(in)"},
                "const mygemmSoftmax_t *": {"type(mygemm_softmax_t), intent(in)"},
                "void **": {"type(c_ptr), intent(out)"}}


def declarations_allowed(c_type):
    """The declarations of Fortran that pass what C calls `c_type`."""
    if c_type in BY_VALUE:
        return {BY_VALUE[c_type] + ", value"}
    if c_type in MEMORY:
        return {"type(c_ptr), value"}
    if c_type in BY_REFERENCE:
        return BY_REFERENCE[c_type]
    pointee = BY_VALUE[c_type.removesuffix(" *")]
    return {f"{pointee}, intent(out)", f"{pointee}, intent(inout)"}


def fields_of_header(text, struct):
    """[(field, Fortran's declaration), ...] of a struct of mygemm.h."""
    body = re.search(r"typedef struct \{([^}]*)\} " + struct + ";", text)[1]
    fields = []
    for statement in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";")[:-1]:
        c_type, names = re.fullmatch(r"\s*(?:const )?(size_t|int\w+|void|float)\s+(.*)", statement,
                                     re.S).groups()
        kind = "real" if c_type == "float" else "integer"
        for name in names.split(","):
            fortran = "type(c_ptr)" if "*" in name else f"{kind}(c_{c_type})"
            fields.append((re.search(r"\w+$", name)[0].lower(), fortran))
    return fields


def fields_of_module(text, struct):
    """The same of a derived type, without what components begin as."""
    text = re.sub(r" *&\n\s*", " ", text)
    body = re.search(rf"type, bind\(C\) :: {struct}\n(.*?)\n *end type", text, re.S)[1]
    return [(name.split(" = ")[0], declaration)
            for declaration, names in re.findall(r"(\w+\(\w+\)) :: (.*)", body)
            for name in names.split(", ")]


def functions_of_header(text):
    """{function: [(parameter, type), ...]} of mygemm.h; `X[]` is `*X`."""
    functions = {}
    for name, parameters in re.findall(r"^MYGEMM_API [^;(]*?(\w+)\(([^;]*)\);", text, re.M):
        functions[name] = []
        for parameter in re.split(r",\s*", " ".join(parameters.split())):
            if parameter == "void":
                continue
            c_type, pointer, word, array = re.fullmatch(r"(.*?)\s*(\**)(\w+)(\[\])?",
                                                        parameter).groups()
            stars = pointer + ("*" if array else "")
            whole = c_type + (stars if c_type.endswith("*const") else f" {stars}")
            functions[name].append((word.lower(), whole.replace("*const*", "*const *").strip()))
    return functions


def functions_of_module(text):
    """{C function: [(argument, declaration), ...]} of the interfaces in mygemm_abi.f90."""
    functions = {}
    pattern = (r'function \w+\(([^)]*)\) bind\(C, name="(\w+)"\) result\(\w+\)\n'
               r'(.*?)\n *end function')
    for arguments, name, body in re.findall(pattern, re.sub(r"&\n\s*", "", text), re.S):
        declared = {}
        for line in body.splitlines():
            kind, separator, names = line.strip().partition(" :: ")
            if separator and kind != "import":
                declared.update({re.sub(r"\(.*", "", word): kind for word in names.split(", ")})
        words = arguments.split(", ") if arguments else []
        functions[name] = [(word, declared[word]) for word in words]
    return functions


class Fortran(unittest.TestCase):
    def setUp(self):
        self.header = abi_headers(SOURCE)
        self.abi = "".join((SOURCE / "bindings/fortran" / name).read_text()
                           for name in ("mygemm_abi.f90", "mygemm_gemm.f90", "mygemm_grouped.f90",
                                        "mygemm_cross_entropy.f90", "mygemm_softmax.f90"))
        module = re.sub(r"&\n\s*", "", (SOURCE / "bindings/fortran/mygemm.f90").read_text())
        self.public = {name for names in re.findall(r"^  public :: (.*)$", module, re.M)
                       for name in names.split(", ")}

    def functions(self):
        return {name for name in self.public
                if name.startswith("mygemm_") and not name.endswith("_t")}

    def test_constants(self):
        in_c = {RENAMED.get(name, name): number for name, number in
                re.findall(r"\b(MYGEMM_[A-Z0-9_]+) = (\d+)", self.header)}
        self.assertGreater(len(in_c), 20)
        self.assertEqual(dict(re.findall(r"\b(MYGEMM_[A-Z0-9_]+) = (\d+)", self.abi)), in_c)
        self.assertLessEqual(set(in_c), self.public)

    def test_functions(self):
        in_c = functions_of_header(self.header)
        self.assertGreater(len(in_c), 25)
        self.assertEqual(set(in_c) - {CREATE_WITH_CONFIG},
                         self.functions())
        self.assertEqual(set(in_c) - {CREATE}, set(functions_of_module(self.abi)) - {"strlen"})

    def test_arguments(self):
        in_c, bound = functions_of_header(self.header), functions_of_module(self.abi)
        for name in set(in_c) - {CREATE}:
            with self.subTest(name):
                words = [word for word, _ in in_c[name]]
                self.assertEqual([word for word, _ in bound[name]], words)
                for (word, declaration), (_, c_type) in zip(bound[name], in_c[name]):
                    self.assertIn(declaration, declarations_allowed(c_type), word)

    def test_every_function_is_called_by_a_test(self):
        folder = SOURCE / "tests/consumers/fortran"
        program = "".join(path.read_text() for path in sorted(folder.glob("every_function*")))
        called = set(re.findall(r"\b(mygemm_\w+)\(", program))
        self.assertEqual(self.functions(), called)

    def test_structs(self):
        for in_c, in_fortran in (("mygemmConfig_t", "mygemm_config"),
                                 ("mygemmGemm_t", "mygemm_gemm_t"),
                                 ("mygemmGroups_t", "mygemm_groups_t"),
                                 ("mygemmCrossEntropy_t", "mygemm_cross_entropy_t"),
                                 ("mygemmSoftmax_t", "mygemm_softmax_t")):
            fields = fields_of_header(self.header, in_c)
            self.assertGreater(len(fields), 2)
            self.assertEqual(fields_of_module(self.abi, in_fortran), fields)
        self.assertIn("MYGEMM_MATH_OF_HANDLE = -1", self.abi)
        self.assertIn("#define MYGEMM_MATH_OF_HANDLE (-1)", self.header)
        self.assertIn("MYGEMM_INVARIANCE_OF_HANDLE = -1", self.abi)
        self.assertIn("#define MYGEMM_INVARIANCE_OF_HANDLE (-1)", self.header)


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1))
    unittest.main()
