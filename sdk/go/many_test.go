package hippocampus_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	hippocampus "hippocampus/sdk/go"
)

func TestClient_WritesForgetsAndRestoresMany(t *testing.T) {
	t.Parallel()
	client, ctx, user := newClient(t), t.Context(), uuid.NewString()
	results, err := client.RememberMany(ctx, []hippocampus.MemoryRequest{
		{UserID: user, Content: "Lives in Lisbon."}, {UserID: user}, {UserID: user, Content: "Likes green tea."},
	})
	if err != nil || len(results) != 3 {
		t.Fatal(results, err)
	}
	if results[0].ID == nil || results[1].Error == nil || results[2].ID == nil {
		t.Fatalf("the results are %+v", results)
	}
	ids := []string{*results[0].ID, *results[2].ID}
	for _, step := range []struct {
		name string
		do   func() (*hippocampus.ForgetMemoriesAnswer, error)
		left int
	}{
		{"preview", func() (*hippocampus.ForgetMemoriesAnswer, error) {
			return client.ForgetMany(ctx, hippocampus.ForgetMemoriesRequest{Ids: &ids, DryRun: new(true)})
		}, 2},
		{"forget", func() (*hippocampus.ForgetMemoriesAnswer, error) {
			return client.ForgetMany(ctx, hippocampus.ForgetMemoriesRequest{Ids: &ids})
		}, 0},
		{"restore", func() (*hippocampus.ForgetMemoriesAnswer, error) {
			answer, err := client.RestoreMany(ctx, hippocampus.RestoreMemoriesRequest{Ids: ids})
			if err != nil {
				return nil, err
			}
			return &hippocampus.ForgetMemoriesAnswer{Results: answer.Results}, nil
		}, 2},
	} {
		answer, err := step.do()
		if err != nil || len(answer.Results) != 2 {
			t.Fatal(step.name, answer, err)
		}
		if got := stated(t, client, user); len(got) != step.left {
			t.Errorf("%s leaves %v", step.name, got)
		}
	}
	if _, err := client.Undo(ctx, ids[0]); !errors.Is(err, hippocampus.KindConflict) {
		t.Errorf("undoing a memory that was not derived gives %v", err)
	}
}

func TestClient_ShowsAUserAndTheUsersProfile(t *testing.T) {
	t.Parallel()
	client, ctx := newClient(t), t.Context()
	user := remember(t, client, "Lives in Lisbon.", "Is allergic to peanuts.")
	zone, err := client.SetUser(ctx, user, hippocampus.UserRequest{TimeZone: new("Asia/Shanghai")})
	if err != nil || zone.TimeZone == nil || *zone.TimeZone != "Asia/Shanghai" {
		t.Errorf("the zone is %+v, %v", zone, err)
	}
	kept, err := client.User(ctx, user)
	if err != nil || kept.Memories["active"] != 2 || kept.TimeZone == nil || *kept.TimeZone != "Asia/Shanghai" {
		t.Errorf("the user has %+v, %v", kept, err)
	}
	profile, err := client.Profile(ctx, user, hippocampus.GetProfileParams{Limit: new(1)})
	if err != nil || profile.UserID != user || len(profile.Memories) != 1 {
		t.Errorf("the profile is %+v, %v", profile, err)
	}
}

func TestClient_ListsTheEvidenceOfAFact(t *testing.T) {
	t.Parallel()
	client, ctx, user := newClient(t), t.Context(), uuid.NewString()
	for _, city := range []string{"Lisbon", "Porto"} {
		_, err := client.StateFact(ctx, hippocampus.FactRequest{UserID: user, Type: "profile", Key: "home_city", Value: city})
		if err != nil {
			t.Fatal(err)
		}
	}
	evidence := []any{}
	asked := hippocampus.ListFactHistoryParams{UserID: user, Type: "profile", Key: "home_city", Limit: new(1)}
	for fact, err := range client.FactHistory(ctx, asked) {
		if err != nil {
			t.Fatal(err)
		}
		evidence = append(evidence, fact.Value)
	}
	if len(evidence) != 2 || evidence[0] != "Lisbon" || evidence[1] != "Porto" {
		t.Errorf("the evidence is %v", evidence)
	}
}
