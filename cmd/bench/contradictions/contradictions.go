// Package contradictions measures what becomes of statements that a later statement contradicts, or is merely related
// to:
//
//	pair -> user with statements about other things -> older statement, newer one 30 days later
//	     -> was the judge asked about the older one, and is it superseded?
//
// With an honest judge, which knows the pairs, it writes through ingest on SQLite; without a model, the statements are
// turns that a server processes.
package contradictions

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"hippocampus/db/sqlite"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/recall/calibration"
	"hippocampus/scorer/statement"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/projection"
	"hippocampus/vectorstore/sqlitevec"
)

// Pair is two statements about a user. A line of a file of pairs has its fields, separated by tabs.
type Pair struct {
	Language     string // en or zh
	Half         string // dev or test
	Contradicts  bool   // the third field is "contradicts", else "related"
	Attribute    string // that the statements are about, such as home
	Older, Newer string
}

// Read reads a file of pairs.
func Read(path string) (pairs []Pair, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 6 {
			return nil, fmt.Errorf("%s: the line %q does not have 6 fields", path, lines.Text())
		}
		pairs = append(pairs, Pair{
			Language: f[0], Half: f[1], Contradicts: f[2] == "contradicts", Attribute: f[3], Older: f[4], Newer: f[5],
		})
	}
	return pairs, lines.Err()
}

// Everyday reads statements about other things, a language and a statement in each line.
func Everyday(path string) (statements map[string][]string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	statements = map[string][]string{}
	for line := range strings.Lines(string(data)) {
		language, statement, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			return nil, fmt.Errorf("%s: the line %q does not have 2 fields", path, line)
		}
		statements[language] = append(statements[language], statement)
	}
	return statements, nil
}

// Result counts the outcomes of the pairs of one language.
type Result struct {
	Language    string  `json:"language"`
	Others      int     `json:"others"`      // statements of the user about other things, on average
	Floor       float64 `json:"floor"`       // least cosine at which the judge is asked
	Facts       int     `json:"facts"`       // that were compared with memories: two for each pair; 0 without a model
	Calls       int     `json:"calls"`       // of the judge
	Memories    float64 `json:"memories"`    // in a call, on average
	Contradicts Count   `json:"contradicts"` // pairs that contradict each other
	Related     Count   `json:"related"`     // pairs that do not
	Wrong       []Pair  `json:"wrong,omitempty"`
}

// Count counts pairs.
type Count struct {
	Pairs      int `json:"pairs"`
	Asked      int `json:"asked"`      // the judge was asked about the older statement
	Superseded int `json:"superseded"` // the older statement was superseded
}

// Measure runs pairs of one language with the honest judge. others returns the other statements of the user who states
// a pair.
func Measure(
	ctx context.Context, embedder llm.Embedder, pairs []Pair, others func(Pair) []string,
) (r Result, err error) {
	dir, err := os.MkdirTemp("", "contradictions")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	b, err := open(ctx, dir, embedder)
	if err != nil {
		return r, err
	}
	defer b.close()
	r.Language = pairs[0].Language
	r.Floor = b.calibrations.Of(llm.SpaceOf(embedder)).English.Floor
	if r.Language == "zh" {
		r.Floor = b.calibrations.Of(llm.SpaceOf(embedder)).Chinese.Floor
	}
	for i, p := range pairs {
		owner := memory.Owner{AppID: "bench", UserID: fmt.Sprint("user-", i)}
		stated := others(p)
		r.Others += len(stated)
		asked, superseded, err := b.live(ctx, owner, p, stated)
		if err != nil {
			return r, fmt.Errorf("%s / %s: %w", p.Older, p.Newer, err)
		}
		count := r.add(p, superseded)
		if asked {
			count.Asked++
		}
	}
	r.Others /= len(pairs)
	r.Facts, r.Calls = b.facts, b.judge.calls
	r.Memories = float64(b.judge.memories) / float64(max(1, r.Calls))
	return r, nil
}

// add counts a pair with its outcome, and returns the count.
func (r *Result) add(p Pair, superseded bool) *Count {
	count := &r.Related
	if p.Contradicts {
		count = &r.Contradicts
	}
	count.Pairs++
	if superseded {
		count.Superseded++
	}
	if superseded != p.Contradicts {
		r.Wrong = append(r.Wrong, p)
	}
	return count
}

type bench struct {
	service      *ingest.Service
	store        *sqlite.Store
	vectors      *sqlitevec.Store
	calibrations *calibration.Service
	judge        *honest
	facts        int
}

func open(ctx context.Context, dir string, embedder llm.Embedder) (*bench, error) {
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "records.db")})
	if err != nil {
		return nil, err
	}
	if err := store.Migrate(ctx); err != nil {
		return nil, err
	}
	vectors, err := sqlitevec.Open(ctx, sqlitevec.Options{
		Path: filepath.Join(dir, "vectors.db"), Space: vectorstore.Space(llm.SpaceOf(embedder)),
	})
	if err != nil {
		return nil, err
	}
	b := &bench{store: store, vectors: vectors, judge: &honest{}}
	b.calibrations = calibration.New(store, embedder, zap.NewNop())
	if err := b.calibrations.Calibrate(ctx); err != nil {
		return nil, err
	}
	pusher := projection.New(store, vectors, projection.Settings{
		Lease: time.Minute, Backoff: time.Second, BackoffLimit: time.Minute,
	}, time.Now, zap.NewNop())
	parts := write.Parts{
		Records: store, Embedder: embedder, Vectors: vectors, Pusher: pusher,
		Calibration: b.calibrations.Of, Now: time.Now, Log: zap.NewNop(), Judge: b.judge,
	}
	b.service = ingest.New(ingest.Parts{
		Records: store, Embedder: embedder, Pusher: pusher, Now: time.Now, Log: zap.NewNop(),
		Writer: write.New(parts, write.Settings{
			MergeSimilarity: 0.95, JudgeSimilarity: -1, JudgeTimeout: time.Minute,
			OwnWindow: 10 * time.Second, OwnLimit: 100, FallbackLimit: 1000,
		}),
		Guess: statement.Domain,
	}, ingest.Settings{})
	return b, nil
}

func (b *bench) close() {
	_ = b.vectors.Close()
	_ = b.store.Close()
}

// OthersOf returns a function from a pair to the older statements of the pairs about other attributes.
func OthersOf(all []Pair) func(Pair) []string {
	return func(p Pair) (others []string) {
		for _, other := range all {
			if other.Attribute != p.Attribute && other.Older != p.Older && !slices.Contains(others, other.Older) {
				others = append(others, other.Older)
			}
		}
		return others
	}
}

// live lets a user state other things, then the older statement of a pair, and later the newer one. Only the two
// statements of the pair are compared with memories.
func (b *bench) live(
	ctx context.Context, owner memory.Owner, p Pair, others []string,
) (asked, superseded bool, err error) {
	begin := time.Date(2031, 1, 1, 9, 0, 0, 0, time.UTC)
	writes := make([]ingest.Write, len(others))
	for i, other := range others {
		writes[i] = ingest.Write{Owner: owner, Content: other, At: begin.AddDate(0, 0, i-len(others))}
	}
	for _, r := range b.service.WriteBatch(ctx, writes) {
		if r.Err != nil {
			return false, false, r.Err
		}
	}
	b.judge.pair, b.judge.asked = p, false
	older, err := b.service.Write(ctx, ingest.Write{Owner: owner, Content: p.Older, Dedup: true, At: begin})
	if err != nil {
		return false, false, err
	}
	if _, err = b.service.Write(ctx, ingest.Write{
		Owner: owner, Content: p.Newer, Dedup: true, At: begin.AddDate(0, 0, 30),
	}); err != nil {
		return false, false, err
	}
	b.facts += 2
	m, err := b.store.Memory(ctx, owner.AppID, older.Memory.ID)
	return b.judge.asked, m.Status == memory.Superseded, err
}
