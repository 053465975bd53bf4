package quality

import "testing"

func TestMissed_CountsWhatTheRoutedDomainsAdd(t *testing.T) {
	t.Parallel()
	var m Missed
	all, routed := []string{"found", "elsewhere"}, []string{"found", "added"}
	m.add([]string{"found", "elsewhere", "added", "nowhere"}, all, routed, true)
	m.add([]string{"found", "nowhere"}, []string{"found"}, nil, false)
	want := Missed{Questions: 2, Routed: 1, Evidence: 6, Found: 3, Added: 1, Gaining: 1, Hidden: 1}
	if m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
}
