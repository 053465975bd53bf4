package api

import (
	"context"
	"net/http"
)

// The kinds of job that the admin routes ask for.
const (
	Verification = "verification" // the stores are compared
	Repair       = "repair"       // and made equal
	Rebuild      = "rebuild"      // the vector store is filled anew
)

// Reembedding is the kind of job that takes memories to another embedding model.
const Reembedding = "reembedding"

// ask answers with the job that was enqueued.
func (s *Server) ask(kind string) func(context.Context, *request) error {
	return func(ctx context.Context, r *request) error {
		job, err := s.Ask(ctx, kind)
		if err != nil {
			return err
		}
		return r.JSON(http.StatusAccepted, jobOf(job, r.key.AppID))
	}
}
