package api

import (
	"context"
	"net/http"

	"hippocampus/internal/memory"
)

// route is one entry of the API.
type route struct {
	method, path string
	role         memory.Role // the weakest that may; empty: no key is needed
	limit        int64       // bytes of the body; 0: it takes none; streamed: no bound
	handle       func(context.Context, *request) error
}

func (s *Server) routes(scrape http.Handler) []route {
	const read, write, admin = memory.RoleRead, memory.RoleWrite, memory.RoleAdmin
	return []route{
		{"POST", "/v1/turns", write, s.BodyLimit, s.postTurn},
		{"GET", "/v1/turns", read, 0, s.listTurns},
		{"GET", "/v1/turns/:id", read, 0, s.getTurn},
		{"POST", "/v1/turns/:id/replay", write, 0, s.replayTurn},

		{"GET", "/v1/conversations", read, 0, s.listConversations},
		{"GET", "/v1/conversations/:id", read, 0, s.getConversation},
		{"PATCH", "/v1/conversations/:id", write, s.BodyLimit, s.patchConversation},
		{"DELETE", "/v1/conversations/:id", write, 0, s.deleteConversation},
		{"GET", "/v1/conversations/:id/working", read, 0, s.getWorking},
		{"POST", "/v1/conversations/:id/end", write, s.BodyLimit, s.endConversation},
		{"GET", "/v1/conversations/:id/consolidations", read, 0, s.listConsolidations},

		{"POST", "/v1/memories", write, s.BodyLimit, s.postMemory},
		{"POST", "/v1/memories/batch", write, s.BatchLimit, s.postBatch},
		{"GET", "/v1/memories", read, 0, s.listMemories},
		{"GET", "/v1/memories/:id", read, 0, s.getMemory},
		{"PATCH", "/v1/memories/:id", write, s.BodyLimit, s.patchMemory},
		{"DELETE", "/v1/memories/:id", write, 0, s.deleteMemory},
		{"GET", "/v1/memories/:id/history", read, 0, s.getHistory},
		{"POST", "/v1/memories/:id/restore", write, 0, s.restoreMemory},
		{"POST", "/v1/memories/:id/undo", write, 0, s.undoMemory},
		{"POST", "/v1/memories/:id/relations", write, s.BodyLimit, s.postRelation},
		{"DELETE", "/v1/memories/:id/relations", write, 0, s.deleteRelation},
		{"GET", "/v1/memories/:id/related", read, 0, s.getRelated},

		{"PUT", "/v1/facts", write, s.BodyLimit, s.putFact},
		{"GET", "/v1/facts", read, 0, s.listFacts},
		{"DELETE", "/v1/facts", write, 0, s.endFact},
		{"GET", "/v1/facts/history", read, 0, s.factHistory},

		{"POST", "/v1/instructions", write, s.BodyLimit, s.postInstruction},
		{"GET", "/v1/instructions", read, 0, s.listInstructions},
		{"GET", "/v1/instructions/merged", read, 0, s.mergedInstructions},
		{"GET", "/v1/instructions/:name", read, 0, s.getInstruction},
		{"DELETE", "/v1/instructions/:name", write, 0, s.retireInstruction},
		{"GET", "/v1/instructions/:name/versions", read, 0, s.listVersions},
		{"GET", "/v1/instructions/:name/diff", read, 0, s.diffInstruction},
		{"POST", "/v1/instructions/:name/activate", write, s.BodyLimit, s.activateInstruction},
		{"POST", "/v1/instructions/:name/rollback", write, s.BodyLimit, s.rollBackInstruction},

		{"GET", "/v1/skills", read, 0, s.listSkills},
		{"GET", "/v1/skills/:name", read, 0, s.getSkill},
		{"POST", "/v1/skills/:name/outcomes", write, s.BodyLimit, s.postOutcome},

		{"GET", "/v1/candidates", read, 0, s.listCandidates},
		{"POST", "/v1/candidates/promote", write, s.BodyLimit, s.promoteCandidates},

		{"POST", "/v1/recall", read, s.BodyLimit, s.recall},
		{"POST", "/v1/context", read, s.BodyLimit, s.context},
		{"POST", "/v1/reflect", write, s.BodyLimit, s.reflect},
		{"POST", "/v1/forget", write, s.BodyLimit, s.forget},
		{"POST", "/v1/compress", write, s.BodyLimit, s.compress},
		{"DELETE", "/v1/users/:user_id", admin, 0, s.eraseUser},
		{"GET", "/v1/stats", read, 0, s.stats},
		{"GET", "/v1/export", read, streamed, s.exportMemories},
		{"POST", "/v1/import", admin, streamed, s.importMemories},
		{"GET", "/v1/events", read, streamed, s.streamEvents},
		{"POST", "/v1/webhooks", admin, s.BodyLimit, s.postWebhook},
		{"GET", "/v1/webhooks", admin, 0, s.listWebhooks},
		{"GET", "/v1/webhooks/:id", admin, 0, s.getWebhook},
		{"PATCH", "/v1/webhooks/:id", admin, s.BodyLimit, s.patchWebhook},
		{"DELETE", "/v1/webhooks/:id", admin, 0, s.deleteWebhook},
		{"GET", "/v1/jobs", admin, 0, s.listJobs},
		{"GET", "/v1/jobs/:id", admin, 0, s.getJob},
		{"POST", "/v1/admin/verify", admin, 0, s.ask(Verification)},
		{"POST", "/v1/admin/repair", admin, 0, s.ask(Repair)},
		{"POST", "/v1/admin/rebuild", admin, 0, s.ask(Rebuild)},

		{"GET", "/healthz", "", 0, s.health},
		{"GET", "/readyz", "", 0, s.ready},
		{"GET", "/metrics", "", 0, func(_ context.Context, r *request) error {
			scrape.ServeHTTP(r.Response(), r.Request())
			return nil
		}},
		{"GET", "/openapi.yaml", "", 0, func(_ context.Context, r *request) error {
			return r.Blob(http.StatusOK, "application/yaml", openAPI)
		}},
	}
}
