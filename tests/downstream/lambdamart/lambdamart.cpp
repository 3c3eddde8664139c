// What a LambdaMART trainer asks for in each round: where every document ought to go, by what a swap does to nDCG@k.
// C. Burges, "From RankNet to LambdaRank to LambdaMART: An Overview", MSR-TR-2010-82, sections 4 and 7, with sigma = 1.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <rankgain.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace py = pybind11;
template <typename T> using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

static const rankgain_api *rankgain;  // set once, when the module is imported

static void check(int status) {
  if (status) throw std::invalid_argument(rankgain->message(status));  // in Python a ValueError
}

// One query of n documents: adds to the gradients and hessians of its cost.
static void add_query(const double *scores, const double *labels, ptrdiff_t n, ptrdiff_t k, double *gradient,
                      double *hessian) {
  std::vector<ptrdiff_t> order(n);           // the document at each rank
  std::vector<double> gain(n), discount(n);  // the discount stays 0 beyond rank k
  std::vector<char> scratch(rankgain->scratch_size(n, RANKGAIN_NO_CUTOFF));
  double ideal;
  check(rankgain->idcg(labels, n, 1, k, RANKGAIN_EXPONENTIAL, nullptr, 0, scratch.data(), &ideal));
  check(rankgain->order_f64(scores, n, 1, nullptr, 0, RANKGAIN_NO_CUTOFF, RANKGAIN_STABLE, scratch.data(),
                            order.data(), nullptr, nullptr));
  check(rankgain->gain(RANKGAIN_EXPONENTIAL, labels, n, gain.data()));
  k = std::min(n, k);
  check(rankgain->discount(RANKGAIN_LOG2, 0, k, discount.data()));
  for (ptrdiff_t a = 0; a < k; ++a) {  // no swap beyond rank k changes nDCG@k
    for (ptrdiff_t b = a + 1; b < n; ++b) {
      ptrdiff_t i = order[a], j = order[b];
      if (gain[i] == gain[j]) continue;
      if (gain[i] < gain[j]) std::swap(i, j);  // document i ought to stand above document j
      const double delta = (gain[i] - gain[j]) * (discount[a] - discount[b]) / ideal;  // of nDCG@k, if they swapped
      const double rho = 1 / (1 + std::exp(scores[i] - scores[j]));
      gradient[i] -= delta * rho;
      gradient[j] += delta * rho;
      hessian[i] += delta * rho * (1 - rho);
      hessian[j] += delta * rho * (1 - rho);
    }
  }
}

// Two rows, gradients and hessians, of all documents; query q has the documents offsets[q] to offsets[q + 1] - 1.
static Array<double> lambdas(Array<double> scores, Array<double> labels, Array<ptrdiff_t> offsets, ptrdiff_t k) {
  const ptrdiff_t documents = scores.size(), *offset = offsets.data();
  if (labels.size() != documents) throw std::invalid_argument("scores and labels differ in length");
  Array<double> result({ptrdiff_t(2), documents});
  const double *score = scores.data(), *label = labels.data();
  double *gradient = result.mutable_data(), *hessian = gradient + documents;

  py::gil_scoped_release no_gil;
  std::fill(gradient, hessian + documents, 0.0);
  for (ptrdiff_t q = 0; q + 1 < offsets.size(); ++q) {
    const ptrdiff_t first = offset[q], n = offset[q + 1] - first;
    if (first < 0 || n < 0 || n > documents - first) throw std::invalid_argument("offsets do not fit scores");
    add_query(score + first, label + first, n, k, gradient + first, hessian + first);
  }
  return result;
}

PYBIND11_MODULE(lambdamart, module, py::mod_gil_not_used()) {
  rankgain = rankgain_import();
  if (!rankgain) throw py::error_already_set();
  module.def("lambdas", &lambdas, py::arg("scores"), py::arg("labels"), py::arg("offsets"), py::arg("k") = 10);
}
