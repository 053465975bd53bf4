package proof

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// mortalRecords are the database as a process sees it that can die. Every
// method of the contract stands here, so that none gets past the fuse.
type mortalRecords struct {
	*fuse
	real db.Store
}

// Close is what the system does for a process that has died, too.
func (s *mortalRecords) Close() error { return s.real.Close() }

// InUser is rolled back when the process dies before the commit, which is the
// last that InUser does.
func (s *mortalRecords) InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error {
	return act(s.fuse, "InUser", func() error {
		return s.real.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			if err := f(ctx, &mortalTx{s.fuse, tx}); err != nil {
				return err
			}
			return s.alive()
		})
	})
}

// ClaimDueVectors finds nothing due while the process is at rest.
func (s *mortalRecords) ClaimDueVectors(ctx context.Context, now, until time.Time, limit int) ([]db.VectorTask, error) {
	if s.resting() {
		return nil, nil
	}
	return get(s.fuse, "ClaimDueVectors", func() ([]db.VectorTask, error) { return s.real.ClaimDueVectors(ctx, now, until, limit) })
}

// ResumeTurns finds nothing overdue while the process is at rest.
func (s *mortalRecords) ResumeTurns(ctx context.Context, now, due time.Time, limit int, job func(turnID string) db.Job) (int, error) {
	if s.resting() {
		return 0, nil
	}
	return get(s.fuse, "ResumeTurns", func() (int, error) { return s.real.ResumeTurns(ctx, now, due, limit, job) })
}

func (s *mortalRecords) AcceptTurn(ctx context.Context, t memory.Turn, due time.Time) (memory.Turn, bool, error) {
	return find(s.fuse, "AcceptTurn", func() (memory.Turn, bool, error) { return s.real.AcceptTurn(ctx, t, due) })
}

func (s *mortalRecords) Ages(ctx context.Context, appID string, f func(db.Age) error) error {
	return act(s.fuse, "Ages", func() error { return s.real.Ages(ctx, appID, f) })
}

func (s *mortalRecords) SetTarget(ctx context.Context, target memory.Space, at time.Time) (db.ServingState, error) {
	return get(s.fuse, "SetTarget", func() (db.ServingState, error) { return s.real.SetTarget(ctx, target, at) })
}

func (s *mortalRecords) BeginErasure(ctx context.Context, owner memory.Owner, at, due time.Time, job db.Job) (db.Erasure, error) {
	return get(s.fuse, "BeginErasure", func() (db.Erasure, error) { return s.real.BeginErasure(ctx, owner, at, due, job) })
}

func (s *mortalRecords) ChangeOver(ctx context.Context, to memory.Space, copied, at time.Time) error {
	return act(s.fuse, "ChangeOver", func() error { return s.real.ChangeOver(ctx, to, copied, at) })
}

func (s *mortalRecords) ClaimVectors(ctx context.Context, ids []string, now, until time.Time) ([]db.VectorTask, error) {
	return get(s.fuse, "ClaimVectors", func() ([]db.VectorTask, error) { return s.real.ClaimVectors(ctx, ids, now, until) })
}

func (s *mortalRecords) CountUnembedded(ctx context.Context, space memory.Space) (int, error) {
	return get(s.fuse, "CountUnembedded", func() (int, error) { return s.real.CountUnembedded(ctx, space) })
}

func (s *mortalRecords) CreateKey(ctx context.Context, k memory.Key) error {
	return act(s.fuse, "CreateKey", func() error { return s.real.CreateKey(ctx, k) })
}

func (s *mortalRecords) DeferTurn(ctx context.Context, turnID string, attempts int, lastError string, due time.Time, refused *memory.Candidate) error {
	return act(s.fuse, "DeferTurn", func() error { return s.real.DeferTurn(ctx, turnID, attempts, lastError, due, refused) })
}

func (s *mortalRecords) Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error) {
	return get(s.fuse, "Documents", func() ([]db.Document, error) { return s.real.Documents(ctx, owner) })
}

func (s *mortalRecords) DropPrevious(ctx context.Context) error {
	return act(s.fuse, "DropPrevious", func() error { return s.real.DropPrevious(ctx) })
}

func (s *mortalRecords) EachEmbedding(ctx context.Context, owner memory.Owner, model string, limit int, f func(id string, embedding []float32)) error {
	return act(s.fuse, "EachEmbedding", func() error { return s.real.EachEmbedding(ctx, owner, model, limit, f) })
}

func (s *mortalRecords) Embeddings(ctx context.Context, owner memory.Owner, model string, ids []string) (map[string][]float32, error) {
	return get(s.fuse, "Embeddings", func() (map[string][]float32, error) { return s.real.Embeddings(ctx, owner, model, ids) })
}

func (s *mortalRecords) EndErasure(ctx context.Context, e db.Erasure, at time.Time, vectors int) (db.Erasure, error) {
	return get(s.fuse, "EndErasure", func() (db.Erasure, error) { return s.real.EndErasure(ctx, e, at, vectors) })
}

func (s *mortalRecords) Enqueue(ctx context.Context, job db.Job) (db.JobInfo, bool, error) {
	return find(s.fuse, "Enqueue", func() (db.JobInfo, bool, error) { return s.real.Enqueue(ctx, job) })
}

func (s *mortalRecords) EnqueueTurns(ctx context.Context, turnIDs []string, due time.Time, job func(turnID string) db.Job) (int, error) {
	return get(s.fuse, "EnqueueTurns", func() (int, error) { return s.real.EnqueueTurns(ctx, turnIDs, due, job) })
}

func (s *mortalRecords) EraseSome(ctx context.Context, e db.Erasure, step db.EraseStep) (db.ErasedSome, error) {
	return get(s.fuse, "EraseSome", func() (db.ErasedSome, error) { return s.real.EraseSome(ctx, e, step) })
}

func (s *mortalRecords) Erasure(ctx context.Context, owner memory.Owner) (db.Erasure, error) {
	return get(s.fuse, "Erasure", func() (db.Erasure, error) { return s.real.Erasure(ctx, owner) })
}

func (s *mortalRecords) Export(ctx context.Context, p db.ExportPage) ([]db.Record, error) {
	return get(s.fuse, "Export", func() ([]db.Record, error) { return s.real.Export(ctx, p) })
}

func (s *mortalRecords) Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error) {
	return get(s.fuse, "Facts", func() ([]memory.Memory, error) { return s.real.Facts(ctx, owner, since, limit) })
}

func (s *mortalRecords) EndTurns(ctx context.Context, turnIDs []string, at time.Time) error {
	return act(s.fuse, "EndTurns", func() error { return s.real.EndTurns(ctx, turnIDs, at) })
}

func (s *mortalRecords) FailTurn(ctx context.Context, turnID string, attempts int, lastError string, at time.Time, refused *memory.Candidate) error {
	return act(s.fuse, "FailTurn", func() error { return s.real.FailTurn(ctx, turnID, attempts, lastError, at, refused) })
}

func (s *mortalRecords) FinishVectors(ctx context.Context, done []db.VectorTask, at time.Time) error {
	return act(s.fuse, "FinishVectors", func() error { return s.real.FinishVectors(ctx, done, at) })
}

func (s *mortalRecords) RevisionDocumentsAndUnconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) (db.OwnerDocuments, error) {
	return get(s.fuse, "RevisionDocumentsAndUnconfirmed", func() (db.OwnerDocuments, error) {
		return s.real.RevisionDocumentsAndUnconfirmed(ctx, owner, since, limit)
	})
}

func (s *mortalRecords) RevisionAndUnconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) (int64, []memory.Memory, error) {
	return find(s.fuse, "RevisionAndUnconfirmed", func() (int64, []memory.Memory, error) { return s.real.RevisionAndUnconfirmed(ctx, owner, since, limit) })
}

func (s *mortalRecords) HandedOut(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error) {
	return get(s.fuse, "HandedOut", func() ([]memory.Memory, error) { return s.real.HandedOut(ctx, owner, since, limit) })
}

func (s *mortalRecords) History(ctx context.Context, appID, memoryID string) ([]memory.Event, error) {
	return get(s.fuse, "History", func() ([]memory.Event, error) { return s.real.History(ctx, appID, memoryID) })
}

func (s *mortalRecords) HoldReembedding(ctx context.Context, holder string, now, until time.Time) (bool, error) {
	return get(s.fuse, "HoldReembedding", func() (bool, error) { return s.real.HoldReembedding(ctx, holder, now, until) })
}

func (s *mortalRecords) Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error) {
	return get(s.fuse, "Hydrate", func() ([]memory.Memory, error) { return s.real.Hydrate(ctx, owner, ids, embedded) })
}

func (s *mortalRecords) Job(ctx context.Context, id int64) (db.JobInfo, error) {
	return get(s.fuse, "Job", func() (db.JobInfo, error) { return s.real.Job(ctx, id) })
}

func (s *mortalRecords) KeyByHash(ctx context.Context, hash string) (memory.Key, error) {
	return get(s.fuse, "KeyByHash", func() (memory.Key, error) { return s.real.KeyByHash(ctx, hash) })
}

func (s *mortalRecords) Events(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Event, error) {
	return get(s.fuse, "Events", func() (map[string][]memory.Event, error) { return s.real.Events(ctx, owner, ids) })
}

func (s *mortalRecords) ListCandidates(ctx context.Context, f db.CandidateFilter) ([]db.Proposal, error) {
	return get(s.fuse, "ListCandidates", func() ([]db.Proposal, error) { return s.real.ListCandidates(ctx, f) })
}

func (s *mortalRecords) ListJobs(ctx context.Context, f db.JobFilter) ([]db.JobInfo, error) {
	return get(s.fuse, "ListJobs", func() ([]db.JobInfo, error) { return s.real.ListJobs(ctx, f) })
}

func (s *mortalRecords) ListKeys(ctx context.Context, appID string) ([]memory.Key, error) {
	return get(s.fuse, "ListKeys", func() ([]memory.Key, error) { return s.real.ListKeys(ctx, appID) })
}

func (s *mortalRecords) ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error) {
	return get(s.fuse, "ListMemories", func() ([]memory.Memory, error) { return s.real.ListMemories(ctx, f) })
}

func (s *mortalRecords) ListTurns(ctx context.Context, f db.TurnFilter) ([]memory.Turn, error) {
	return get(s.fuse, "ListTurns", func() ([]memory.Turn, error) { return s.real.ListTurns(ctx, f) })
}

func (s *mortalRecords) Memory(ctx context.Context, appID, id string) (memory.Memory, error) {
	return get(s.fuse, "Memory", func() (memory.Memory, error) { return s.real.Memory(ctx, appID, id) })
}

func (s *mortalRecords) Migrate(ctx context.Context) error {
	return act(s.fuse, "Migrate", func() error { return s.real.Migrate(ctx) })
}

func (s *mortalRecords) Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error) {
	return get(s.fuse, "Owners", func() ([]memory.Owner, error) { return s.real.Owners(ctx, after, limit) })
}

func (s *mortalRecords) Ping(ctx context.Context) error {
	return act(s.fuse, "Ping", func() error { return s.real.Ping(ctx) })
}

func (s *mortalRecords) Projected(ctx context.Context, after string, limit int) ([]db.Projected, error) {
	return get(s.fuse, "Projected", func() ([]db.Projected, error) { return s.real.Projected(ctx, after, limit) })
}

func (s *mortalRecords) Proposals(ctx context.Context, appID string, ids []string) ([]db.Proposal, error) {
	return get(s.fuse, "Proposals", func() ([]db.Proposal, error) { return s.real.Proposals(ctx, appID, ids) })
}

func (s *mortalRecords) Purgeable(ctx context.Context, before time.Time, limit int) ([]memory.Memory, error) {
	return get(s.fuse, "Purgeable", func() ([]memory.Memory, error) { return s.real.Purgeable(ctx, before, limit) })
}

func (s *mortalRecords) Recalled(ctx context.Context, owner memory.Owner, whole, rest []string, since time.Time) (db.Recalled, error) {
	return get(s.fuse, "Recalled", func() (db.Recalled, error) { return s.real.Recalled(ctx, owner, whole, rest, since) })
}

func (s *mortalRecords) Recorded(ctx context.Context, owner memory.Owner, ids []string) (map[string]db.Record, error) {
	return get(s.fuse, "Recorded", func() (map[string]db.Record, error) { return s.real.Recorded(ctx, owner, ids) })
}

func (s *mortalRecords) Reembed(ctx context.Context, space memory.Space, embeddings []db.Reembedding) error {
	return act(s.fuse, "Reembed", func() error { return s.real.Reembed(ctx, space, embeddings) })
}

func (s *mortalRecords) Relations(ctx context.Context, appID, memoryID string) ([]memory.Relation, error) {
	return get(s.fuse, "Relations", func() ([]memory.Relation, error) { return s.real.Relations(ctx, appID, memoryID) })
}

func (s *mortalRecords) RenewTurns(ctx context.Context, turnIDs []string, due time.Time) error {
	return act(s.fuse, "RenewTurns", func() error { return s.real.RenewTurns(ctx, turnIDs, due) })
}

func (s *mortalRecords) ReplayTurn(ctx context.Context, appID, turnID string, at, due time.Time, job db.Job) (memory.Turn, error) {
	return get(s.fuse, "ReplayTurn", func() (memory.Turn, error) { return s.real.ReplayTurn(ctx, appID, turnID, at, due, job) })
}

func (s *mortalRecords) Requeue(ctx context.Context, ids []string, at time.Time) (int, error) {
	return get(s.fuse, "Requeue", func() (int, error) { return s.real.Requeue(ctx, ids, at) })
}

func (s *mortalRecords) RetryVectors(ctx context.Context, retries []db.VectorRetry) error {
	return act(s.fuse, "RetryVectors", func() error { return s.real.RetryVectors(ctx, retries) })
}

func (s *mortalRecords) RevokeKey(ctx context.Context, id string, at time.Time) error {
	return act(s.fuse, "RevokeKey", func() error { return s.real.RevokeKey(ctx, id, at) })
}

func (s *mortalRecords) ServingState(ctx context.Context) (db.ServingState, error) {
	return get(s.fuse, "ServingState", func() (db.ServingState, error) { return s.real.ServingState(ctx) })
}

func (s *mortalRecords) SettleEmbeddings(ctx context.Context, space memory.Space, limit int) (int, error) {
	return get(s.fuse, "SettleEmbeddings", func() (int, error) { return s.real.SettleEmbeddings(ctx, space, limit) })
}

func (s *mortalRecords) Sources(ctx context.Context, owner memory.Owner, ids []string) (map[string][]memory.Memory, error) {
	return get(s.fuse, "Sources", func() (map[string][]memory.Memory, error) { return s.real.Sources(ctx, owner, ids) })
}

func (s *mortalRecords) Stale(ctx context.Context, owner memory.Owner, before time.Time, accesses int, after db.Position, limit int) ([]memory.Memory, error) {
	return get(s.fuse, "Stale", func() ([]memory.Memory, error) { return s.real.Stale(ctx, owner, before, accesses, after, limit) })
}

func (s *mortalRecords) StartTurn(ctx context.Context, turnID string, due time.Time) (memory.Turn, error) {
	return get(s.fuse, "StartTurn", func() (memory.Turn, error) { return s.real.StartTurn(ctx, turnID, due) })
}

func (s *mortalRecords) State(ctx context.Context, owner memory.Owner) (db.UserState, error) {
	return get(s.fuse, "State", func() (db.UserState, error) { return s.real.State(ctx, owner) })
}

func (s *mortalRecords) Stats(ctx context.Context, appID string) (db.Stats, error) {
	return get(s.fuse, "Stats", func() (db.Stats, error) { return s.real.Stats(ctx, appID) })
}

func (s *mortalRecords) Touch(ctx context.Context, touches []db.Touch) error {
	return act(s.fuse, "Touch", func() error { return s.real.Touch(ctx, touches) })
}

func (s *mortalRecords) Turn(ctx context.Context, appID, ref string) (memory.Turn, error) {
	return get(s.fuse, "Turn", func() (memory.Turn, error) { return s.real.Turn(ctx, appID, ref) })
}

func (s *mortalRecords) TurnCandidates(ctx context.Context, appID, turnID string) ([]memory.Candidate, error) {
	return get(s.fuse, "TurnCandidates", func() ([]memory.Candidate, error) { return s.real.TurnCandidates(ctx, appID, turnID) })
}

func (s *mortalRecords) TurnStatus(ctx context.Context, appID, turnID string) (memory.TurnStatus, error) {
	return get(s.fuse, "TurnStatus", func() (memory.TurnStatus, error) { return s.real.TurnStatus(ctx, appID, turnID) })
}

func (s *mortalRecords) Unconfirmed(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error) {
	return get(s.fuse, "Unconfirmed", func() ([]memory.Memory, error) { return s.real.Unconfirmed(ctx, owner, since, limit) })
}

func (s *mortalRecords) Unembedded(ctx context.Context, space memory.Space, after string, limit int) ([]memory.Memory, error) {
	return get(s.fuse, "Unembedded", func() ([]memory.Memory, error) { return s.real.Unembedded(ctx, space, after, limit) })
}

func (s *mortalRecords) VectorBacklog(ctx context.Context) (db.Backlog, error) {
	return get(s.fuse, "VectorBacklog", func() (db.Backlog, error) { return s.real.VectorBacklog(ctx) })
}
