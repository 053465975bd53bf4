package app

import (
	"io"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/server/config"
)

// The built-in embedder does not replace a model whose settings have to be corrected.
func TestRun_EndsIfANewEmbedderRefusesTheKey(t *testing.T) {
	models := llmtest.New(t)
	models.SetKey("another-key")
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Data = t.TempDir()
	cfg.Embedding.APIKey = "refused-key"
	cfg.Embedding.BaseURL = models.URL()
	err := Run(t.Context(), cfg, Host{Out: io.Discard, Err: io.Discard, Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "check the API key") ||
		!strings.Contains(err.Error(), "set embedding.dimension") || strings.Contains(err.Error(), cfg.Embedding.APIKey) {
		t.Fatalf("the start gives %v", err)
	}
}
