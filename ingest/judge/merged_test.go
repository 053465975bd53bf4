package judge

import (
	_ "embed"
	"testing"
	"time"

	"hippocampus/internal/grounding/claimtest"
	"hippocampus/internal/memory"
)

var (
	//go:embed testdata/merged.txt
	mergedTexts string
	//go:embed testdata/merged_held.txt
	heldMergedTexts string
)

// A merged text that adds something to the two memories is refused.
func TestCheckMerged_TellsWhatIsInventedFromWhatIsHonest(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC)
	why := func(sources []string, claim string) string {
		m := memory.Memory{Content: sources[0], CreatedAt: at}
		if err := checkMerged(claim, memory.Memory{Content: sources[1], CreatedAt: at}, m); err != nil {
			return err.Error()
		}
		return ""
	}
	claimtest.Check(t, []claimtest.File{
		{Name: "merged.txt", Text: mergedTexts}, {Name: "merged_held.txt", Text: heldMergedTexts},
	}, why)
}
