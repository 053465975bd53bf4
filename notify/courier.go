package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hippocampus/internal/memory"
)

// The headers of a delivery: those of Standard Webhooks (https://www.standardwebhooks.com), and the older ones of this
// server.
const (
	standardID        = "Webhook-Id"
	standardTimestamp = "Webhook-Timestamp"
	standardSignature = "Webhook-Signature"

	headerKind      = "X-Hippocampus-Event"
	headerID        = "X-Hippocampus-Id"
	headerTimestamp = "X-Hippocampus-Timestamp"
	headerSignature = "X-Hippocampus-Signature"
)

const maxAnswer = 16 << 10 // bytes of a response that are read, for its connection to be reused

// courier sends to webhooks.
type courier struct {
	Settings
	client *http.Client
}

func newCourier(s Settings) courier { return courier{Settings: s, client: newClient(s)} }

// parcel is what one delivery sends.
type parcel struct {
	id      string
	kind    memory.AnnouncementKind
	payload []byte
}

// send makes one attempt.
func (c courier) send(ctx context.Context, w memory.Webhook, p parcel, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(p.payload))
	if err != nil {
		return errors.New("the URL cannot be used: change it")
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "hippocampus")
	r.Header.Set(headerKind, string(p.kind))
	r.Header.Set(headerID, p.id)
	r.Header.Set(headerTimestamp, stamp)
	r.Header.Set(headerSignature, Sign(w.Secret, stamp, p.payload))
	r.Header.Set(standardID, p.id)
	r.Header.Set(standardTimestamp, stamp)
	r.Header.Set(standardSignature, SignStandard(w.Secret, p.id, stamp, p.payload))
	answer, err := c.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("no answer within %s", c.Timeout)
		}
		return unsent{err}
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("answered with status %d", answer.StatusCode)
	}
	return nil
}

// Sign returns the signature of a delivery: "sha256=" and the HMAC-SHA256, in hex, of
// the timestamp, a dot and the body.
func Sign(secret, timestamp string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(payload)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// SignStandard returns the signature of a delivery by Standard Webhooks: "v1," and the HMAC-SHA256, in base64, of the
// event's id, the timestamp and the body, joined by dots. The key is what follows "whsec_" in the secret, decoded from
// base64, or the secret as it is if it has another form.
func SignStandard(secret, id, timestamp string, payload []byte) string {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, secretPrefix); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(payload)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
