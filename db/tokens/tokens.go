// Package tokens counts the tokens that models use for each app, and refuses chat calls beyond a quota:
//
//	chat call    -> Admit -> count of the app's day, up to 5 s old, and what this process used since -> call, or error
//	end of calls -> Count, Estimate -> every few seconds and at the stop -> database, which all servers share
//
// Several servers may together exceed a quota by what they use between two counts, and each by its calls under way. A
// process that is killed loses what it has not stored yet.
package tokens

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Quota returns the most tokens that chat models may use for an app on a day, 0: any number, and the setting's name.
type Quota func(appID string) (most int, setting string)

const (
	countAge    = 5 * time.Second // greatest age of a count that decides
	storeEach   = 3 * time.Second // between two times that counts are stored
	storeRows   = 500             // stored by one statement
	lastTimeout = 5 * time.Second // of storing the counts at the stop
	estimates   = 1000            // texts of calls that wait to be counted
	limit       = "quotas.chat_tokens"
)

// Meter counts. It is an llm.Meter.
type Meter struct {
	records db.Tokens
	quota   Quota
	now     func() time.Time
	log     *zap.Logger

	unmeasured chan unmeasured

	mu     sync.Mutex
	used   map[key]int      // and not stored
	stored map[string]count // of chat tokens, by app
	total  map[memory.TokenKind]int
}

// key is what is counted by.
type key struct {
	appID string
	day   int
	kind  memory.TokenKind
}

// count is what an app had used on a day when that was read.
type count struct {
	day, tokens int
	until       time.Time // when it must be read again
}

// unmeasured are texts whose tokens the endpoint did not count.
type unmeasured struct {
	key
	texts []string
}

// New returns a meter, whose counts are stored while Run runs.
func New(records db.Tokens, quota Quota, now func() time.Time, log *zap.Logger) *Meter {
	return &Meter{
		records: records, quota: quota, now: now, log: log, unmeasured: make(chan unmeasured, estimates),
		used: map[key]int{}, stored: map[string]count{}, total: map[memory.TokenKind]int{},
	}
}

// Admit returns an error if chat models have used up the quota of an app today: KindUnavailable, with the time until
// the next day. It reads the database if the app has a quota and the last count is old. A count that cannot be read
// refuses nothing.
func (m *Meter) Admit(ctx context.Context, appID string) error {
	most, setting := m.quota(appID)
	if most == 0 {
		return nil
	}
	now := m.now()
	day := db.DayOf(now)
	used, isKnown := m.usedOn(appID, day, now)
	if !isKnown {
		if err := m.read(ctx, appID, day, now); err != nil {
			m.log.Warn("the tokens that an app has used cannot be read", zap.String("app", appID), zap.Error(err))
		}
		used, _ = m.usedOn(appID, day, now)
	}
	if used < most {
		return nil
	}
	next := time.Unix(0, 0).UTC().AddDate(0, 0, day+1)
	text := fmt.Sprintf("the app's quota is %d tokens of chat models a day, and it has used %d today. The model is asked "+
		"again from %s on; the operator of the server may raise %s", most, used, next.Format(time.RFC3339), setting)
	return &memory.Error{
		Kind: memory.KindUnavailable, Limit: limit, RetryAfter: next.Sub(now), Err: errors.New(text), Detail: text,
	}
}

// usedOn returns the chat tokens that are known to be used on a day, and whether they were read lately.
func (m *Meter) usedOn(appID string, day int, now time.Time) (tokens int, isKnown bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.stored[appID]
	if c.day == day {
		tokens = c.tokens
	}
	return tokens + m.used[key{appID, day, memory.ChatTokens}], c.day == day && now.Before(c.until)
}

// read reads the chat tokens of an app's day.
func (m *Meter) read(ctx context.Context, appID string, day int, now time.Time) error {
	rows, err := m.records.TokensOf(ctx, appID, day)
	if err != nil {
		return err
	}
	c := count{day: day, until: now.Add(countAge)}
	for _, row := range rows {
		if row.Kind == memory.ChatTokens {
			c.tokens = row.Tokens
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stored[appID] = c
	return nil
}

// Count adds tokens to an app's day.
func (m *Meter) Count(appID string, kind memory.TokenKind, n int) {
	m.add(key{appID, db.DayOf(m.now()), kind}, n)
}

// Estimate counts the tokens of texts in the background. If many texts wait, it takes four bytes for a token.
func (m *Meter) Estimate(appID string, kind memory.TokenKind, texts ...string) {
	of := key{appID, db.DayOf(m.now()), kind}
	select {
	case m.unmeasured <- unmeasured{of, texts}:
	default:
		bytes := 0
		for _, text := range texts {
			bytes += len(text)
		}
		m.add(of, (bytes+3)/4)
	}
}

func (m *Meter) add(of key, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[of] += n
	m.total[of.kind] += n
}

// Run stores the counts every few seconds, and the last ones when ctx ends.
func (m *Meter) Run(ctx context.Context) {
	ticker := time.NewTicker(storeEach)
	defer ticker.Stop()
	for {
		select {
		case u := <-m.unmeasured:
			m.add(u.key, llm.EstimateTokens(u.texts...))
		case <-ticker.C:
			m.keep(ctx)
		case <-ctx.Done():
			m.keepLast(ctx)
			return
		}
	}
}

// keepLast counts the texts that wait, and stores what was counted.
func (m *Meter) keepLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTimeout)
	defer cancel()
	m.measureAll()
	m.keep(ctx)
}

// measureAll counts the texts that wait.
func (m *Meter) measureAll() {
	for {
		select {
		case u := <-m.unmeasured:
			m.add(u.key, llm.EstimateTokens(u.texts...))
		default:
			return
		}
	}
}

// keep stores what was counted. What cannot be stored is kept for the next time.
func (m *Meter) keep(ctx context.Context) {
	for rows := range slices.Chunk(m.unstored(), storeRows) {
		if err := m.records.AddTokens(ctx, rows); err != nil {
			if ctx.Err() == nil {
				m.log.Warn("the tokens that apps have used cannot be stored yet", zap.Error(err))
			}
			return
		}
		m.onStored(rows)
	}
}

func (m *Meter) unstored() (rows []memory.TokenDay) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for of, n := range m.used {
		rows = append(rows, memory.TokenDay{AppID: of.appID, Day: of.day, Kind: of.kind, Tokens: n})
	}
	return rows
}

// onStored moves what was stored from the used tokens to the stored ones, and forgets counts of other days. A count
// that was read in between may have the same tokens, so it must be read again.
func (m *Meter) onStored(rows []memory.TokenDay) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range rows {
		of := key{row.AppID, row.Day, row.Kind}
		if m.used[of] -= row.Tokens; m.used[of] == 0 {
			delete(m.used, of)
		}
		if c, ok := m.stored[row.AppID]; ok && c.day == row.Day && row.Kind == memory.ChatTokens {
			c.tokens += row.Tokens
			c.until = time.Time{}
			m.stored[row.AppID] = c
		}
	}
	today := db.DayOf(m.now())
	maps.DeleteFunc(m.stored, func(_ string, c count) bool { return c.day != today })
}

// Total returns the tokens that this process has counted since its start, by kind.
func (m *Meter) Total() map[memory.TokenKind]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.total)
}

// Today is what an app has used on the present day.
type Today struct {
	Day             time.Time // its beginning, in UTC
	Chat, Embedding int
	Quota           int // the most chat tokens; 0: no bound
}

// Today returns what an app has used today. Other servers may not have stored what they counted last.
func (m *Meter) Today(ctx context.Context, appID string) (Today, error) {
	day := db.DayOf(m.now())
	rows, err := m.records.TokensOf(ctx, appID, day)
	if err != nil {
		return Today{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := map[memory.TokenKind]int{}
	for _, row := range rows {
		sum[row.Kind] += row.Tokens
	}
	for _, kind := range []memory.TokenKind{memory.ChatTokens, memory.EmbeddingTokens} {
		sum[kind] += m.used[key{appID, day, kind}]
	}
	most, _ := m.quota(appID)
	return Today{
		Day:  time.Unix(0, 0).UTC().AddDate(0, 0, day),
		Chat: sum[memory.ChatTokens], Embedding: sum[memory.EmbeddingTokens], Quota: most,
	}, nil
}
