package speed

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the report as a table for people.
func (s Soak) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d cores: %d requests at %.0f a second (the highest rate was %.0f), %d errors\nverified: %s\n\n",
		s.Size, s.Machine.Cores, s.Requests, s.Paced, s.Highest, s.Errors, s.Verified)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "seconds\town MiB\tgoroutines\tdescriptors\terrors\tp95 ms\t")
	for _, r := range s.Readings {
		fmt.Fprintf(w, "%.0f\t%d\t%.0f\t%.0f\t%d\t%.2f\t\n",
			r.Seconds, r.Memory>>20, r.Goroutines, r.Descriptors, r.Errors, r.P95)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out,
		"\nin an hour, by the second half: %+.1f MiB of own memory, %+.1f goroutines, %+.1f descriptors\n",
		s.slope(func(r Reading) float64 { return float64(r.Memory) / (1 << 20) }),
		s.slope(func(r Reading) float64 { return r.Goroutines }),
		s.slope(func(r Reading) float64 { return r.Descriptors }))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "at rest, before and after: %.0f, %.0f goroutines; %.0f, %.0f descriptors; "+
		"%d, %d MiB of own memory with %d, %d memories\n",
		s.Before.Goroutines, s.After.Goroutines, s.Before.Descriptors, s.After.Descriptors,
		s.Before.Memory>>20, s.After.Memory>>20, s.Before.Memories, s.After.Memories)
	return err
}

// slope is the growth of a value in an hour: the slope of the line that is nearest to the second half of its readings
// by least squares. A leak grows on; what a server holds for its data levels off.
func (s Soak) slope(of func(Reading) float64) float64 {
	half := s.Readings[len(s.Readings)/2:]
	var at, value, both, squares float64
	for _, r := range half {
		at, value = at+r.Seconds, value+of(r)
		both, squares = both+r.Seconds*of(r), squares+r.Seconds*r.Seconds
	}
	n := float64(len(half))
	if spread := n*squares - at*at; spread > 0 {
		return 3600 * (n*both - at*value) / spread
	}
	return 0
}
