// Package dbtest tests that a database fulfils the contract of package db:
//
//	open -> empty, migrated db.Store -> one subtest per promise
//
// Stores must also have a Driver method that returns a River driver for the same
// database, so that the tests can run the enqueued jobs.
package dbtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Run tests the stores that open returns. open is called once per subtest and
// returns an empty, migrated store that the test's cleanup closes. Subtests run
// in parallel.
func Run(t *testing.T, open func(t *testing.T) db.Store) { runEach(t, 1, open) }

// RunSample runs every third group of the tests of Run, or all groups with scripts/test --long. It is for a variant of
// a store that Run tests.
func RunSample(t *testing.T, open func(t *testing.T) db.Store) {
	every := 3
	if os.Getenv("HIPPOCAMPUS_TEST_LONG") != "" {
		every = 1
	}
	runEach(t, every, open)
}

// runEach runs one of every so many groups.
func runEach(t *testing.T, every int, open func(t *testing.T) db.Store) {
	groups := map[string]func(t *testing.T, s db.Store){
		"accept":                  accept,
		"accept concurrently":     acceptConcurrently,
		"find turn":               findTurn,
		"list turns":              listTurns,
		"turn status":             turnStatus,
		"longest due turn":        longestDue,
		"work on turn":            workOnTurn,
		"replay turn":             replayTurn,
		"claim turns":             claimTurns,
		"finish turn":             finishTurn,
		"end turns":               endTurns,
		"past turns":              pastTurns,
		"candidates":              candidates,
		"faded":                   faded,
		"round trip":              roundTrip,
		"limits":                  limits,
		"rollback":                rollback,
		"mutual exclusion":        mutualExclusion,
		"waiting for the lock":    waitingForTheLock,
		"one busy user":           oneBusyUser,
		"isolation":               isolation,
		"hostile ids":             hostileIDs,
		"list memories":           listMemories,
		"history":                 history,
		"list by tags":            listByTags,
		"list as of":              listAsOf,
		"list by filter":          listByFilter,
		"list by examined":        examined,
		"filters match":           filtersMatch,
		"slices partition":        slicesPartition,
		"events":                  events,
		"conversation neighbours": conversationNeighbours,
		"remove relation":         removeRelation,
		"active memories":         activeMemories,
		"documents":               documents,
		"hydrate":                 hydrate,
		"recalled":                recalled,
		"unconfirmed":             unconfirmed,
		"changes":                 changes,
		"indexes":                 indexes,
		"unconfirmed changes":     unconfirmedChanges,
		"copies":                  copies,
		"superseded sources":      supersededSources,
		"same content":            sameContent,
		"touch and handed out":    touchAndHandedOut,
		"touch in a change":       touchInAChange,
		"batch":                   batch,
		"vector states":           vectorStates,
		"vector claims":           vectorClaims,
		"vector claims at once":   vectorClaimsAtOnce,
		"vector retries":          vectorRetries,
		"vector change in push":   vectorChangeInPush,
		"vector claim lost":       vectorClaimLost,
		"vector backlog":          vectorBacklog,
		"keys":                    keys,
		"limit of keys":           keyLimit,
		"stats":                   stats,
		"users":                   users,
		"search for users":        userSearch,
		"what a user holds":       userHoldings,
		"migrate again":           migrateAgain,
		"ended context":           endedContext,
		"closed":                  closed,
		"random operations":       randomOperations,
		"touches and claims mix":  touchesAndClaimsMix,
		"owners":                  owners,
		"facts":                   facts,
		"condensed facts":         condensedFacts,
		"stand-ins":               standIns,
		"stale":                   stale,
		"states":                  states,
		"ages":                    ages,
		"active days":             activeDays,
		"settings of users":       userSettings,
		"purgeable":               purgeable,
		"purge":                   purge,
		"relations":               relations,
		"sources":                 sources,
		"list candidates":         listCandidates,
		"count candidates":        countCandidates,
		"proposals":               proposalsByID,
		"people":                  people,
		"proposed insights":       proposedInsights,
		"proposed instructions":   proposedInstructions,
		"instructions lose lines": instructionLines,
		"settle candidate":        settleCandidate,
		"projected":               projected,
		"requeue":                 requeue,
		"enqueue jobs":            enqueueJobs,
		"enqueue jobs at once":    enqueueJobsAtOnce,
		"job states":              jobStates,
		"erase":                   erase,
		"erase and pushes":        eraseWaitsForPushes,
		"erase against writers":   eraseAgainstWriters,
		"erase hostile ids":       eraseHostile,
		"changing models":         changingModels,
		"words only":              wordsOnly,
		"calibrations":            calibrations,
		"refused fields":          refusedFields,
		"token days":              tokenDays,
		"policies":                policies,
		"profiles":                profiles,
		"episodes":                episodes,
		"source documents":        sourceDocuments,
		"reprocessings":           reprocessings,
		"select turns":            selectTurns,
		"hold re-embedding":       holdReembedding,
		"leases of a clock ahead": leasesOfAClockAhead,
		"announcements":           announcements,
		"ended conversation":      endedConversation,
		"readers miss nothing":    readersMissNothing,
		"purge announcements":     purgeAnnouncements,
		"webhooks":                webhooks,
		"enqueue deliveries":      enqueueDeliveries,
		"deliveries at once":      enqueueDeliveriesAtOnce,
		"export":                  export,
		"export facts":            exportFacts,
		"export instructions":     exportInstructions,
		"export skills":           exportSkills,
		"export conversations":    exportConversations,
		"restore conversations":   restoreConversations,
		"continue conversations":  continueConversations,
		"recorded":                recorded,
		"restore":                 restore,
		"conversation grows":      conversationGrows,
		"log is as it was read":   logIsAsRead,
		"conversation turns":      conversationTurns,
		"message ids":             messageIDs,
		"conversation at once":    conversationAtOnce,
		"conversation ends":       conversationEnds,
		"list conversations":      listConversations,
		"summarise":               summarise,
		"withholding":             withholding,
		"leavingOut":              leavingOut,
		"withdrawal":              withdrawal,
		"replacement":             replacement,
		"delete conversation":     deleteConversation,
		"delete against writers":  conversationDeletedAtOnce,
		"hostile conversations":   conversationHostile,
		"fact round trip":         factRoundTrip,
		"fact limits":             factLimits,
		"fact timeline":           factTimeline,
		"list facts":              listFacts,
		"fact history":            factHistory,
		"due facts":               dueFacts,
		"instruction versions":    instructionVersions,
		"list instructions":       listInstructions,
		"active instructions":     activeInstructions,
		"instruction limits":      instructionLimits,
		"instructions at once":    instructionsAtOnce,
		"workflow round trip":     workflowRoundTrip,
		"list skills":             listSkills,
		"counted outcomes":        countedOutcomes,
		"files":                   files,
		"file versions":           fileVersions,
		"prune file versions":     pruneFileVersions,
		"export files":            exportFiles,
		"consolidation life":      consolidationLife,
		"due consolidations":      dueConsolidations,
		"list consolidations":     listConsolidations,
		"log of recalls":          logOfRecalls,
		"feedback":                feedbackLives,
		"pool":                    poolLives,
		"pool erased":             poolErased,
		"evidence":                evidence,
		"threshold steps":         thresholdSteps,
		"owners of feedback":      feedbackOwners,
		"log and erasure":         logAndErasure,
		"jobs of users":           jobsOfUsers,
		"jobs of transactions":    jobsOfTransactions,
	}
	maps.Copy(groups, mergeGroups)
	for i, name := range slices.Sorted(maps.Keys(groups)) {
		if i%every > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			groups[name](t, open(t))
		})
	}
}

// epoch is the start time of the tests. Its microseconds must be kept.
var epoch = time.Date(2026, 3, 1, 9, 30, 15, 123456000, time.UTC)

// after returns epoch plus n seconds.
func after(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

var alice = memory.Owner{AppID: "app", UserID: "alice"}

// newMemory returns an active memory with every field set.
func newMemory(owner memory.Owner, content string) memory.Memory {
	return memory.Memory{
		ID: memory.NewID(), Owner: owner, AgentID: "agent", ConversationID: "conversation", SourceTurnID: memory.NewID(),
		Speaker: "Ana 茶", Asked: "What tea? 茶", Content: content, Type: memory.TypeFact, Domain: memory.Profession,
		Tags:       []string{"work", "茶", `q"u'ote\`},
		Importance: 0.8125, Metadata: json.RawMessage(`{"b": 1, "a": [1.50, "é\u00e9"], "b2": {"x": null}}`), Pinned: true,
		Status: memory.Active, CreatedAt: epoch, ExpiresAt: after(90), UpdatedAt: epoch, LastAccessedAt: epoch,
		Lexemes: "lexemes of it", Embedding: []float32{0.6, -0.8}, EmbeddingModel: "model", Revision: 1,
	}
}

func newTurn(owner memory.Owner, clientID string) memory.Turn {
	return memory.Turn{
		ID:       memory.NewID(),
		Owner:    owner,
		ClientID: clientID,
		AgentID:  "agent",
		Messages: []memory.Message{
			{Role: "user", Content: "我喜欢绿茶 🍵 \"it's\" \\ fine\n"},
			{Role: "tool", Content: "", Name: "t", Raw: json.RawMessage(`{"role":"tool","content":null,"n":[1.50,"é"]}`)},
		},
		Metadata: json.RawMessage(`{"k":  "v"}`),
		At:       after(-60), ExpiresAt: after(60),
		Hash:       "hash",
		Status:     memory.TurnAccepted,
		AcceptedAt: epoch,
		QueuedAt:   after(1),
	}
}

func newCandidate(turnID string) memory.Candidate {
	return memory.Candidate{
		ID:         memory.NewID(),
		TurnID:     turnID,
		Content:    "likes green tea",
		Importance: 0.75,
		Domain:     memory.Preferences,
		Type:       "preference",
		Verdict:    memory.Kept,
		Reason:     "important",
		Scorer:     "rules",
		MemoryID:   memory.NewID(),
		CreatedAt:  epoch, ExpiresAt: after(90), Tags: []string{"a", "ü"},
	}
}

func newEvent(memoryID string, kind memory.EventKind, at time.Time) memory.Event {
	return memory.Event{
		ID:       memory.NewID(),
		MemoryID: memoryID,
		Kind:     kind,
		Cause:    "api",
		Detail:   json.RawMessage(`{"n": 1}`),
		At:       at,
	}
}

// work is a job about a turn.
type work struct {
	TurnID string `json:"turn_id"`
}

func (work) Kind() string { return "dbtest_work" }

// insert stores memories whose vectors are claimed until the given time.
func insert(t *testing.T, s db.Store, claimed time.Time, memories ...memory.Memory) {
	t.Helper()
	must(t, s.InUser(t.Context(), memories[0].Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.Insert(ctx, memories, claimed)
	}))
}

// update stores changed memories.
func update(t *testing.T, s db.Store, memories ...memory.Memory) {
	t.Helper()
	must(t, s.InUser(t.Context(), memories[0].Owner, func(ctx context.Context, tx db.UserTx) error {
		for _, m := range memories {
			if err := tx.Update(ctx, m); err != nil {
				return err
			}
		}
		return nil
	}))
}

// accepted accepts turns that are due at after(60) and enqueues a job for each.
func accepted(t *testing.T, s db.Store, turns ...memory.Turn) {
	t.Helper()
	for _, turn := range turns {
		if _, fresh, err := s.AcceptTurn(t.Context(), turn, after(60), nil); err != nil || !fresh {
			t.Fatalf("accept turn: fresh %v, %v", fresh, err)
		}
		_, _, err := s.Enqueue(t.Context(), work{turn.ID})
		must(t, err)
	}
}

func ids(memories []memory.Memory) []string {
	all := []string{}
	for _, m := range memories {
		all = append(all, m.ID)
	}
	return all
}

func describe(i int) string { return fmt.Sprintf("statement %03d", i) }
