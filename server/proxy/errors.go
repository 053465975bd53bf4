package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"go.uber.org/zap"

	"hippocampus/server/frame"
)

// onError answers a request that the upstream did not answer, in the form of OpenAI's errors.
func (p *proxy) onError(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		return // the client has disconnected
	}
	status := http.StatusBadGateway
	text := fmt.Sprintf("the model at %s does not answer: check that it runs and that proxy.upstream is right",
		p.Upstream.Redacted())
	var slow interface{ Timeout() bool }
	if errors.As(err, &slow) && slow.Timeout() {
		status = http.StatusGatewayTimeout
		text = fmt.Sprintf("the model at %s has not answered within %v", p.Upstream.Redacted(), p.Wait)
	}
	p.Log.Warn("the proxy's upstream does not answer", zap.Error(err))
	if c := callOf(r.Context()); c != nil {
		for name, values := range c.report {
			w.Header()[name] = values
		}
		w.Header().Del(headerTurn)
	}
	writeError(w, status, failure{Message: text, Type: "upstream_error", Code: "upstream_unavailable"})
}

// failure is an error in OpenAI's form.
type failure struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"` // always null
	Code    string  `json:"code"`
}

// fail writes an error of this server in OpenAI's form, which its clients turn into their exceptions.
func fail(w http.ResponseWriter, status int, p frame.Problem) {
	writeError(w, status, failure{
		Message: cmp.Or(p.Detail, p.Title), Type: "hippocampus_error", Code: string(p.Kind()),
	})
}

func writeError(w http.ResponseWriter, status int, f failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]failure{"error": f}) // fails only if the client has left
}
