/* Reciprocal rank and DCG of each row of a matrix, read where it lies in whatever has the buffer protocol. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <rankgain.h>
#include <string.h>

/* True and a matrix of float64; or false and an exception. Either way to be released. */
static int open_matrix(PyObject *object, int flags, Py_buffer *matrix) {
  if (PyObject_GetBuffer(object, matrix, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags)) return 0;
  if (matrix->ndim == 2 && strcmp(matrix->format, "d") == 0) return 1;
  PyErr_SetString(PyExc_TypeError, "a matrix of float64 is needed");
  return 0;
}

static const rankgain_api *rankgain; /* set once, when the module is imported */

/* Without the GIL: nothing of Python may be touched. A status comes from `row`. */
static int compute(const Py_buffer *grades, const Py_buffer *values, Py_ssize_t k, Py_ssize_t *row) {
  const Py_ssize_t n = grades->shape[1];
  const double *in = grades->buf;
  double *out = values->buf;
  int status = RANKGAIN_OK;
  for (*row = 0; *row < grades->shape[0]; ++*row, in += n, out += 2) {
    status = rankgain->reciprocal_rank(in, n, 1, k, NAN, &out[0]); /* NAN: relevant is every grade above 0 */
    if (!status) status = rankgain->dcg(in, n, 1, k, RANKGAIN_LINEAR, NULL, 0, &out[1]);
    if (status) break;
  }
  return status;
}

/* rr_and_dcg(grades, values, k): grades in rank order, a query a row; values has as many rows, of two columns. */
static PyObject *rr_and_dcg(PyObject *module, PyObject *args) {
  PyObject *from, *to;
  Py_buffer grades = {0}, values = {0};
  Py_ssize_t k = RANKGAIN_NO_CUTOFF, row;
  int status = RANKGAIN_OK;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO|n", &from, &to, &k)) return NULL;
  if (open_matrix(from, 0, &grades) && open_matrix(to, PyBUF_WRITABLE, &values)) {
    if (values.shape[0] != grades.shape[0] || values.shape[1] != 2) {
      PyErr_SetString(PyExc_ValueError, "values must have a row for each row of grades, and two columns");
    } else {
      Py_BEGIN_ALLOW_THREADS
      status = compute(&grades, &values, k, &row);
      Py_END_ALLOW_THREADS
      if (status) PyErr_Format(PyExc_ValueError, "row %zd: %s", row, rankgain->message(status));
    }
  }
  PyBuffer_Release(&grades);
  PyBuffer_Release(&values);
  return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {{"rr_and_dcg", rr_and_dcg, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "row_metrics", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_row_metrics(void) {
  rankgain = rankgain_import();
  return rankgain ? PyModule_Create(&definition) : NULL;
}
