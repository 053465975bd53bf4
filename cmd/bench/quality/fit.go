package quality

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"
)

// Coefficients of confidence: of the bias, the closeness, the coverage, the unknown names
// and the logarithm of the number of memories.
type Coefficients [5]float64

var coefficientNames = [5]string{"bias", "closeness", "coverage", "unknown names", "ln(memories / 100)"}

// values returns the values that the coefficients weigh; see recall.Fit.
func (s Signals) values() [5]float64 {
	n := float64(min(max(s.Memories, 10), 1000))
	return [5]float64{1, s.Closeness, s.Coverage, s.UnknownNames, math.Log(n / 100)}
}

// example is one answer for the regression.
type example struct {
	values [5]float64
	own    bool
	weight float64
}

// Fit reads reports with doubts. It returns the coefficients that best separate own
// questions with evidence among the first ten from foreign questions, for the users of the
// conversations in FittedOn. Each combination of report, form and size has the same weight,
// and so have its own and its foreign questions.
func Fit(files []string) (Coefficients, error) {
	var examples []example
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return Coefficients{}, err
		}
		var report Report
		if err := json.Unmarshal(text, &report); err != nil {
			return Coefficients{}, fmt.Errorf("%s: %w", file, err)
		}
		for _, language := range languages(report.Doubts) {
			for _, size := range Sizes {
				for _, form := range Forms {
					examples = append(examples, examplesOf(report.Doubts, language, size, form)...)
				}
			}
		}
	}
	if len(examples) == 0 {
		return Coefficients{}, errors.New("the reports hold no doubts: make them with bench quality --confidence --json")
	}
	return regress(examples), nil
}

// examplesOf returns the examples of one form and size. Without own or without foreign questions it returns nil.
func examplesOf(doubts []Doubt, language string, size int, form Form) (list []example) {
	own := 0
	for _, d := range doubts {
		if d.Language != language || d.Size != size || !slices.Contains(FittedOn, d.Conversation) {
			continue
		}
		switch {
		case d.Own && len(d.Evidence) > 0 && (d.Form == form || form == Renamed && d.Form == AsAsked):
			own++
			list = append(list, example{values: d.Fit.values(), own: true})
		case !d.Own && d.Form == form:
			list = append(list, example{values: d.Fit.values()})
		}
	}
	if own == 0 || own == len(list) {
		return nil
	}
	for i := range list {
		if list[i].own {
			list[i].weight = 0.5 / float64(own)
		} else {
			list[i].weight = 0.5 / float64(len(list)-own)
		}
	}
	return list
}

// regress is a logistic regression by Newton's method. A small penalty (ridge) bounds the
// coefficients of signals that separate the examples completely.
func regress(examples []example) (b Coefficients) {
	const steps, ridge = 50, 0.002
	total := 0.0
	for _, e := range examples {
		total += e.weight
	}
	for range steps {
		var gradient [5]float64
		var hessian [5][5]float64
		for _, e := range examples {
			logit := 0.0
			for i, v := range e.values {
				logit += b[i] * v
			}
			p := 1 / (1 + math.Exp(-logit))
			target := 0.0
			if e.own {
				target = 1
			}
			for i, v := range e.values {
				gradient[i] += e.weight / total * (p - target) * v
				for j, w := range e.values {
					hessian[i][j] += e.weight / total * p * (1 - p) * v * w
				}
			}
		}
		for i := 1; i < len(b); i++ {
			gradient[i] += ridge * b[i]
			hessian[i][i] += ridge
		}
		for i, step := range solve(hessian, gradient) {
			b[i] -= step
		}
	}
	return b
}

// solve returns x with a*x = y for a positive definite a, by Gaussian elimination.
func solve(a [5][5]float64, y [5]float64) (x [5]float64) {
	for i := range a {
		for j := i + 1; j < len(a); j++ {
			factor := a[j][i] / a[i][i]
			for k := range a {
				a[j][k] -= factor * a[i][k]
			}
			y[j] -= factor * y[i]
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		x[i] = y[i]
		for k := i + 1; k < len(a); k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}

// Print writes the coefficients as a table.
func (b Coefficients) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, name := range coefficientNames {
		fmt.Fprintf(w, "%s\t%.2f\n", name, b[i])
	}
	return w.Flush()
}
