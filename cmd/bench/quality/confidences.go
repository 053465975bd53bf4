package quality

import (
	"fmt"
	"io"
	"slices"
)

// Thresholds of the printed trade-off. The default of contexts is 0.15.
var Thresholds = []float64{0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5}

// TradeOff is the effect of minimum confidences on the questions of one form about users of
// one size.
type TradeOff struct {
	Language string  `json:"lang"`
	Size     int     `json:"size"`     // one of Sizes
	Form     Form    `json:"form"`     // of foreign questions; renamed ones are compared with own questions as asked
	HeldOut  bool    `json:"held_out"` // users of conversations that nothing was fitted on
	Evidence int     `json:"evidence"` // memories among the first ten
	Foreign  int     `json:"foreign"`  // questions
	Rejected []Share `json:"rejected"` // share of foreign questions that return nothing, by Thresholds
	Kept     []Share `json:"kept"`     // share of the evidence that stays, by Thresholds
}

// Share of a count, 0..1.
type Share = float64

// tradeOffs summarises doubts.
func tradeOffs(doubts []Doubt) (list []TradeOff) {
	for _, heldOut := range []bool{true, false} {
		for _, language := range languages(doubts) {
			for _, size := range Sizes {
				for _, form := range Forms {
					if t := tradeOff(doubts, heldOut, language, size, form); t.Evidence > 0 && t.Foreign > 0 {
						list = append(list, t)
					}
				}
			}
		}
	}
	return list
}

func languages(doubts []Doubt) (list []string) {
	for _, d := range doubts {
		if !slices.Contains(list, d.Language) {
			list = append(list, d.Language)
		}
	}
	return list
}

func tradeOff(doubts []Doubt, heldOut bool, language string, size int, form Form) TradeOff {
	t := TradeOff{Language: language, Size: size, Form: form, HeldOut: heldOut}
	var evidence, foreign []float64
	for _, d := range doubts {
		if d.Language != language || d.Size != size || slices.Contains(FittedOn, d.Conversation) == heldOut {
			continue
		}
		switch {
		case !d.Own && d.Form == form:
			foreign = append(foreign, d.Best)
		case d.Own && (d.Form == form || form == Renamed && d.Form == AsAsked):
			evidence = append(evidence, d.Evidence...)
		}
	}
	t.Evidence, t.Foreign = len(evidence), len(foreign)
	for _, threshold := range Thresholds {
		t.Rejected = append(t.Rejected, below(foreign, threshold))
		t.Kept = append(t.Kept, 1-below(evidence, threshold))
	}
	return t
}

// below is the share of values that are less than a threshold.
func below(values []float64, threshold float64) Share {
	n := 0
	for _, v := range values {
		if v < threshold {
			n++
		}
	}
	return float64(n) / max(1, float64(len(values)))
}

// printTradeOffs writes, for each threshold, the share of foreign questions that return
// nothing and the share of the evidence that stays.
func printTradeOffs(w io.Writer, list []TradeOff) {
	fmt.Fprint(w, "minimum confidence: nothing returned / evidence kept\tevidence\tforeign")
	for _, threshold := range Thresholds {
		fmt.Fprintf(w, "\t%.2f", threshold)
	}
	fmt.Fprintln(w)
	for _, t := range list {
		name := "held out"
		if !t.HeldOut {
			name = "fitted"
		}
		size := "all turns"
		if t.Size > 0 {
			size = fmt.Sprintf("%d turns", t.Size)
		}
		fmt.Fprintf(w, "%s, %s, %s, %s\t%d\t%d", name, t.Language, size, t.Form, t.Evidence, t.Foreign)
		for i := range Thresholds {
			fmt.Fprintf(w, "\t%.2f / %.2f", t.Rejected[i], t.Kept[i])
		}
		fmt.Fprintln(w)
	}
}
