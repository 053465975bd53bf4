package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// An export of the app has the pool, which another server has after an import, also after two. An export of a user, and
// a clone, have nothing of it.
func TestPool_ExportHasIt(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := assemble(t, size.settings(t)...)
		copied, withdrawn := s.share("xuhang", deploy), s.share("maya", night)
		s.call("DELETE", "/v1/pool/"+withdrawn, nil, 200)
		whole := s.call("GET", "/v1/export", nil, 200).raw
		if !strings.Contains(whole, `"pooled":{"id":"`+copied) || !strings.Contains(whole, `"pool":2`) {
			t.Errorf("the export:\n%s", whole)
		}
		if one := s.call("GET", "/v1/export?user_id=xuhang", nil, 200).raw; strings.Contains(one, copied) {
			t.Errorf("the export of a user:\n%s", one)
		}
		s.call("POST", "/v1/users/xuhang/clone", object{"into": "other"}, 200)
		if r := s.call("GET", "/v1/pool", nil, 200); len(r.list("memories")) != 1 {
			t.Errorf("after a clone: %s", r.raw)
		}
		other := start(t, size.settings(t)...)
		for _, imported := range []float64{2, 0} {
			r := other.call("POST", "/v1/import", whole, 200)
			if r.body["failed"] != 0.0 || r.body["others"].(map[string]any)["pool"].(map[string]any)["imported"] != imported {
				t.Errorf("imported: %s", r.raw)
			}
		}
		got := other.ask("linxiao", "How is the payment service deployed?")
		if !slices.Contains(got, "xuhang/forge: "+deploy) {
			t.Errorf("after the import, recalled %q", got)
		}
		again := strings.SplitN(other.call("GET", "/v1/export", nil, 200).raw, "\n", 2)[1]
		if want := strings.SplitN(whole, "\n", 2)[1]; again != want {
			t.Errorf("exported again:\n%s\nwant\n%s", again, want)
		}
		other.erase("xuhang")
		if left := other.call("GET", "/v1/export", nil, 200).raw; strings.Contains(left, copied) {
			t.Errorf("after the erasure:\n%s", left)
		}
	})
}

// Servers that are killed during promotions leave no copy without its contributor, and no second one; the stores agree.
func TestPool_SurvivesKillsDuringPromotions(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := assemble(t, size.settings(t)...)
		all := []string{
			night, deploy, peanut, "林晓在杭州教小学语文", "Maya has been a vegetarian since she was twelve",
		}
		owner := map[string]string{night: "maya", deploy: "xuhang", peanut: "linxiao", all[3]: "linxiao", all[4]: "maya"}
		for range 3 {
			var promoting sync.WaitGroup
			begun := make(chan struct{}, len(all))
			for _, content := range all {
				promoting.Go(func() {
					begun <- struct{}{}
					_, _ = s.try("POST", "/v1/pool", object{"user_id": owner[content], "memory_id": s.ids[content]})
				})
			}
			<-begun
			s.kill()
			promoting.Wait()
			s.run()
		}
		for _, content := range all {
			s.share(owner[content], content, 200)
		}
		if list := s.call("GET", "/v1/pool", nil, 200).list("memories"); len(list) != len(all) {
			t.Errorf("the pool has %d memories, want %d: %v", len(list), len(all), list)
		}
		s.wantAgreement("maya", "xuhang", "linxiao")
		for _, user := range []string{"maya", "xuhang", "linxiao"} {
			s.erase(user)
		}
		s.wantAgreement()
	})
}
