package attribute

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

// hanDoes matches the beginning of a clause up to its verb, if its subject is the user.
const hanDoes = `^(?:我们全家|我们家|我们|我家|我|用户|本人|咱们|咱)?(?:现在|目前|如今|已经|早就|早已|终于|刚刚|刚|最近|上个?月|上周|上个?星期|去年|今年|前年|` +
	`正式|彻底|完全|其实|以后|今后|从此|也|都|就|决定|后来|[一二三四五六七八九十\d]+月份?|这个月|` + `年初|年底|真的|一直|很|非常|特别|超级?|最|开始|慢慢|` +
	`渐渐|[\d一二两三四五六七八九十半几]+(?:年|个月|周|天)前|从\p{Han}{1,5}起就?|可|挺|好|有点|又|还是|还|变得|超|实在|基本|几乎|再次|重新)*`

func hanChange(pattern string) *lazyregexp.Regexp { return lazyregexp.New(hanDoes + pattern) }

var (
	hanUncertain = lazyregexp.New(`如果|要是|的话|假如|要不要|是不是|吗|呢|说|听|差点|可能|也许|暂时|考虑|应该|想|打算|准备|计划|希望|翻译|假装|` +
		`今天|今晚|今早|明天|你|["“”「」]`)

	hanNoLonger = hanChange(`(?:再也不|再不|不再|再也没有?)(.+?)了?$`)
	hanNotNow   = hanChange(`不(.+)了$`)
	hanHasNot   = hanChange(`没有(\P{P}{1,6})了$`)
	hanBefore   = lazyregexp.New(`^(?:我|我们|用户)?(?:以前|过去|曾经|原来|之前)(?:会|常常?|经常|一直|每[天周])?(.+?)$`)
	hanNow      = lazyregexp.New(`^(?:但|但是)?(?:我)?(?:现在|后来|如今)(?:已经)?不\p{Han}了`)
	hanQuits    = hanChange(`(?:把(\p{Han}{1,4}?)(?:也|都|给)?)?戒(?:掉)?了?(\p{Han}{0,3}?)了?$`)
	hanCancels  = hanChange(`(?:退出了?|退掉了?|退订了?|退了|取消了?|停掉了?|停了|注销了?|卖掉了?|卖了|放弃了?)(?:我的|那[个张辆台]|这[个张辆台]|我)?` +
		`(\P{P}{2,}?)了?$`)
	hanCancelsA = hanChange(`把(?:我的|那[个张辆台]|这[个张辆台]|我)?(\P{P}{2,}?)(?:也|都)?(?:退|取消|停|退订|注销|卖|放弃|卸载|删|送人|扔)(?:掉)?了$`)
	hanTopic    = lazyregexp.New(`^(?:我的|那[个张]|我)?(\P{P}+?)(?:我)?(?:现在|已经|也|都|刚)*(?:退订|退|取消|停|注销|戒|` +
		`不([` + hanVerbs + `]))(?:掉)?了$`)
	hanNamesUser = lazyregexp.New(`[我咱]|本人`)
	hanTime      = lazyregexp.New(`^(?:现在|目前|如今|最近|其实|后来|从上个月起)+([我咱])`)
	hanBooks     = strings.NewReplacer("《", "", "》", "")

	hanResigns = hanChange(`(?:从([^起\pP]{2,10}?))?(?:离职|辞职|退休|失业|下岗|辞了?工作?|没工作|丢了工作|被(?:裁员?|辞退|开除|炒鱿鱼))了?$`)
	hanDrops   = hanChange(`辞(?:掉|去)?了?(\P{P}{0,10}?)的?工作了?$`)
	hanFired   = hanChange(`被(\P{P}{2,10}?)(?:裁员?|辞退|开除|解雇|裁掉)了?$`)
	hanLeaves  = hanChange(`(?:离开|搬离)了?(\P{P}{2,8}?)了?$`)
	hanShortly = lazyregexp.New(`^[一家这那]|房间|座位|办公室|会场|现场|学校$`)
	hanAgain   = lazyregexp.New(`^(?:我们|我|用户)?(?:现在|最近|终于|已经)*(?:又|重新|再次)(?:开始|重新)?(.+?)了?$`)
)

// hanVerbs are the verbs of one character with which a phrase for something that has ended may begin. "不行了" and "不知道了"
// end nothing.
const hanVerbs = "打学上吃喝抽弹开跑练看玩养做用写唱跳骑教读穿住订办游滑当带画拉吹坐追炒租去信听戴是在"

// Verbs for having something that is cancelled or sold, and for consuming something that is given up.
const (
	hanHaving    = "有办买养订报参加入开用是玩打刷看吃喝戴"
	hanConsuming = "抽吸喝吃玩打刷看用"
)

// readChinese reads a Chinese statement clause by clause.
func (c *Change) readChinese(statement string) {
	if hanUncertain.MatchString(statement) || hanNotUser.MatchString(statement) {
		return
	}
	statement = strings.ReplaceAll(statement, "用户", "我")
	c.explicit = hanNamesUser.MatchString(statement) || hanTopic.MatchString(strings.TrimRight(statement, "。！!."))
	parts := hanClauseEnds.Split(hanBooks.Replace(statement), -1)
	for i, part := range parts {
		part = hanTime.ReplaceAllString(strings.TrimRight(strings.TrimSpace(part), "。！!."), "$1")
		if hanNotUser.MatchString(part) {
			continue
		}
		if a, claim := hanAttitude(part); a != nil {
			c.attitudes = append(c.attitudes, *a)
			continue
		} else if claim != nil {
			c.favourites = append(c.favourites, *claim)
			continue
		}
		before := match(hanBefore, part)
		if before != "" && i+1 < len(parts) && hanNow.MatchString(parts[i+1]) {
			c.endChinese(before)
			continue
		}
		if !c.leaveChinese(part) {
			c.endChineseClause(part)
		}
	}
}

// endChineseClause reads what a clause ends or begins again.
func (c *Change) endChineseClause(part string) {
	end := func(o object) { c.ended = append(c.ended, o) }
	if m := hanQuits.FindStringSubmatch(part); len(m) > 0 && m[1]+m[2] != "" {
		end(object{verb: hanConsuming, han: m[1] + m[2]})
		return
	}
	for _, pattern := range []*lazyregexp.Regexp{hanNoLonger, hanNotNow} {
		if phrase := match(pattern, part); phrase != "" {
			c.endChinese(phrase)
			return
		}
	}
	for _, pattern := range []*lazyregexp.Regexp{hanCancels, hanCancelsA} {
		if named := match(pattern, part); named != "" {
			end(hanObject(named, hanHaving))
			return
		}
	}
	if m := hanTopic.FindStringSubmatch(part); m != nil {
		end(object{verb: cmp.Or(m[2], hanHaving), han: m[1]})
	} else if named := match(hanHasNot, part); named != "" {
		end(object{verb: hanHaving, han: named})
	} else if phrase := match(hanAgain, part); phrase != "" {
		c.held = append(c.held, ofChinese("我"+phrase)...)
		if hanObject(phrase, "").verb != "" && phrase != "是我" {
			c.resumed = append(c.resumed, object{han: phrase})
		}
	}
}

// endChinese reads a phrase that no longer holds, such as 住在上海 or 打网球.
func (c *Change) endChinese(phrase string) {
	if claims := ofChinese("我" + phrase); len(claims) > 0 {
		c.values = append(c.values, claims...)
		return
	}
	if at, found := strings.CutPrefix(phrase, "在"); found && utf8.RuneCountInString(at) > 1 {
		c.values = append(c.values, Claim{Attribute: employer, Value: []string{at}})
	}
	if o := hanObject(phrase, ""); o.verb != "" {
		c.ended = append(c.ended, o)
	}
}

// hanObject returns the object that a phrase names, such as 打网球. verbs are the possible verbs if the phrase begins with
// no verb.
func hanObject(phrase, verbs string) object {
	first, size := utf8.DecodeRuneInString(phrase)
	if strings.ContainsRune(hanVerbs, first) && size < len(phrase) {
		return object{verb: string(first), han: strings.TrimPrefix(phrase[size:], "了")}
	}
	return object{verb: verbs, han: phrase}
}

// leaveChinese reads the end of a job or of a home.
func (c *Change) leaveChinese(part string) bool {
	of := func(attribute, value string) {
		claim := Claim{Attribute: attribute}
		if value != "" {
			claim.Value = []string{value}
		}
		c.values = append(c.values, claim)
	}
	for _, pattern := range []*lazyregexp.Regexp{hanFired, hanResigns, hanDrops} {
		if m := pattern.FindStringSubmatch(part); m != nil {
			of(employer, m[1])
			return true
		}
	}
	if m := hanLeaves.FindStringSubmatch(part); len(m) > 0 && !hanShortly.MatchString(m[1]) {
		of(employer, m[1])
		of(home, m[1])
		return true
	}
	return false
}
