package request

import (
	"os"
	"strings"
	"testing"

	"hippocampus/internal/text"
)

// testdata/requests.tsv has sets of standing requests, and of requests that are made once and statements. The rules
// were written with the first set, and changed once after the later one was measured.
func TestIsStanding_OfLabelledSentences(t *testing.T) {
	content, err := os.ReadFile("testdata/requests.tsv")
	if err != nil {
		t.Fatal(err)
	}
	type group struct{ set, label, language string }
	found, all := map[group]int{}, map[group]int{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		in := group{set: fields[0], label: fields[1], language: "en"}
		if text.IsChinese(fields[2]) {
			in.language = "zh"
		}
		all[in]++
		is := IsStanding(fields[2])
		if is {
			found[in]++
		}
		if is != (in.label == "standing") {
			t.Logf("%v: %v of %q", in, is, fields[2])
		}
	}
	want := map[group]int{
		{"developers", "standing", "en"}: 90, {"developers", "standing", "zh"}: 54,
		{"later", "standing", "en"}: 12, {"later", "standing", "zh"}: 9,
		{"developers", "once", "en"}: 1, {"developers", "once", "zh"}: 0,
		{"later", "once", "en"}: 0, {"later", "once", "zh"}: 0,
	}
	for in, n := range want {
		if all[in] == 0 {
			t.Errorf("%v has no sentence", in)
		}
		if in.label == "standing" && found[in] < n || in.label == "once" && found[in] > n {
			t.Errorf("%v: %d of %d taken for standing requests, want %d", in, found[in], all[in], n)
		}
	}
}
