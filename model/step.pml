/* The step protocol of the gate (model/README.md): one partition of one flow, one key.
 *
 * Kafka keeps the logs, fences producers and members, and commits transactions atomically. Drivers
 * (each a batch thread, a keeper thread and a lock) and their tasks run steps. A process that
 * crashes is one that is never scheduled again; one that is scheduled late is a zombie.
 *
 * Bounds, overridden by -D: */
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef COMMANDS
#define COMMANDS 2
#endif
#ifndef DRIVERS
#define DRIVERS 2
#endif
#ifndef TASKS
#define TASKS 2    /* attempts of tasks, of all drivers together */
#endif
#ifndef FAULTS
#define FAULTS 1   /* answers that get lost, attempts and jobs that are given up */
#endif

/* Broken on purpose, by -D: CONTROL_END_FIRST, NO_OWNER, READ_BEFORE_INIT, TRUST_STATE,
 * DRAIN_TO_LOG_END, TRIM_WITHOUT_LOCK. */

/* A retried EndTxn whose first copy arrives late, by -D: LATE_END with version 2 of transactions, where
 * each transaction has an epoch of its own; LATE_END_VERSION_1 without (broken on purpose). */
#ifdef LATE_END_VERSION_1
#define LATE_END
#endif

/* To show how far the model comes, by -D: SHOW_DRAIN_AFTER_TAKEOVER, SHOW_SECOND_ATTEMPT. */

/* Which promises are checked: a sum of these. */
#define G1 1
#define G2 2
#define G3 4
#define G4 8
#ifndef CHECK
#define CHECK (G1 + G2 + G3 + G4)
#endif

#define ACTIVE 0
#define HELD 1
#define DRAINING 2

/* What one transaction commits for the partition: the committed offset with its metadata, and the
 * same in status with the key's entry. Source offsets `drained` and `last` are one past. */
typedef Position {
  byte offset;    /* of events */
  byte control;   /* commands taken */
  byte step;
  byte owner;     /* which driver; drivers are numbered from 1 */
  byte state;     /* of the key */
  byte start;     /* where its rows begin in held */
  byte drained;   /* drained through, one past */
  byte last;      /* the last event that was appended to held, one past; 0: none */
  byte trim       /* rows of held below are not needed */
}

/* ---- Kafka ---- */

byte events;               /* end of <flow>.events; each event is of the key */
byte sent_after[EVENTS];   /* commands acknowledged when the event was sent */
byte commands;             /* end of <flow>.control: hold, release, hold, ... */
#define is_hold(n) (!((n) & 1))

#define ROWS (2 * EVENTS)
byte held[ROWS];           /* source offsets */
byte held_begin;           /* DeleteRecords got this far */
byte held_end;
byte held_seen;            /* the last stable offset, as readers see it: may be behind */

byte out[EVENTS];          /* how often the event is in <flow>.processed */
byte newest;               /* the last event there, one past */

Position committed;

byte member;               /* generation of the group's one static member */
#define DRIVER_ID 0
#define TASK_ID 1
byte holder[2];            /* who initialised the transactional id last; all others are fenced */
bit pending[2];            /* a transaction is open, and its offsets are sent */
#ifdef LATE_END
Position sent[2];          /* the offsets of its open transaction */
bit late[2];               /* an EndTxn is on its way that was sent again, and answered. The
                            * coordinator takes it while the id has still the same epoch */
#endif

/* ---- drivers ---- */

typedef Driver {
  bit started;
  bit gone;
  bit lock;
  bit uncertain;           /* what came of the last commit is not known */
  bit at_large;            /* tasks of a job that failed may go on */
  byte member;
  byte awaits;             /* the attempt whose end it waits for */
  byte told;               /* how that attempt ended */
  Position at_hand         /* the state that it believes in */
}
Driver driver[DRIVERS + 1];

byte attempts;
#ifdef TRUST_STATE
Position broadcast[TASKS + 1];
#endif

byte faults = FAULTS;

/* ---- promises ---- */

bit G1_lost, G1_twice, G2_out_of_order, G3_passed_a_hold, G4_overtook_held;
bit came_here;
#ifdef SHOW_DRAIN_AFTER_TAKEOVER
byte held_by[ROWS];
#endif
hidden byte x, y;
hidden byte found;

inline copy(to, from) {
  to.offset = from.offset; to.control = from.control; to.step = from.step; to.owner = from.owner;
  to.state = from.state; to.start = from.start; to.drained = from.drained; to.last = from.last;
  to.trim = from.trim
}

inline clear(p) {
  p.offset = 0; p.control = 0; p.step = 0; p.owner = 0; p.state = 0; p.start = 0; p.drained = 0;
  p.last = 0; p.trim = 0
}

/* G1: each event taken is out, or a row of held that the entry will come to. */
inline check_nothing_lost() {
  x = 0;
  do
  :: x < committed.offset ->
    found = (out[x] > 0);
    y = held_begin;
    do
    :: y < held_end && !found ->
      found = (held[y] == x && committed.state != ACTIVE && y >= committed.start &&
               x >= committed.drained);
      y++
    :: else -> break
    od;
    if
    :: !found && (CHECK & G1) -> G1_lost = 1
    :: else
    fi;
    x++
  :: else -> break
  od;
  assert(!G1_lost)
}

/* The event x comes out; `direct` if it does so without having been held. */
inline check_output(direct) {
  if
  :: out[x] > 0 && (CHECK & G1) -> G1_twice = 1
  :: else
  fi;
  if
  :: x < newest && (CHECK & G2) -> G2_out_of_order = 1
  :: else
  fi;
  /* The last command acknowledged before the event was sent is a hold: a release must follow. */
  if
  :: (sent_after[x] > 0 && is_hold(sent_after[x] - 1) && commands == sent_after[x] &&
      (CHECK & G3)) -> G3_passed_a_hold = 1
  :: else
  fi;
  y = 0;
  do
  :: y < held_end ->
    if
    :: direct && held[y] < x && out[held[y]] == 0 && (CHECK & G4) -> G4_overtook_held = 1
    :: else
    fi;
    y++
  :: else -> break
  od;
  assert(!G1_twice);
  assert(!G2_out_of_order);
  assert(!G3_passed_a_hold);
  assert(!G4_overtook_held)
}

/* ---- one step ---- */

/* Locals of whoever decides a step: `next` and the ranges that go out and to held. */
#define STEP_LOCALS Position next; byte out_from, out_to, hold_from, hold_to; bit drains; byte result

inline forget_step() {
  clear(next); out_from = 0; out_to = 0; hold_from = 0; hold_to = 0; drains = 0; result = 0
}

/* Commands [control, max(control, end)): of several only the last acts. */
inline take_commands(end, end_of_held) {
  if
  :: end > next.control ->
    next.control = end;
    if
    :: is_hold(end - 1) && next.state == ACTIVE ->
      next.state = HELD; next.start = end_of_held; next.drained = next.offset
    :: is_hold(end - 1) && next.state == DRAINING -> next.state = HELD
    :: !is_hold(end - 1) && next.state == HELD -> next.state = DRAINING
    :: else
    fi
  :: else
  fi
}

inline take_events(upto) {
  if
  :: upto > next.offset && next.state == ACTIVE -> out_from = next.offset; out_to = upto
  :: upto > next.offset && next.state != ACTIVE ->
    hold_from = next.offset; hold_to = upto; next.last = upto
  :: else
  fi;
  if
  :: upto > next.offset -> next.offset = upto
  :: else
  fi
}

inline end_drain() { next.state = ACTIVE; next.start = 0; next.drained = 0 }

/* One row of held, below `seen`, comes out; the drain ends with the last one. */
inline drain(seen) {
  y = next.start;
  do
  :: y < seen && held[y] < next.drained -> y++
  :: else -> break
  od;
  if
  :: y < seen ->
    out_from = held[y]; out_to = held[y] + 1; drains = 1; next.drained = out_to
  :: else
  fi;
#ifdef DRAIN_TO_LOG_END
  if
  :: y + 1 >= seen -> end_drain()
  :: else
  fi
#else
  if
  :: next.last <= next.drained -> end_drain()
  :: else
  fi
#endif
}

inline apply_step(id) {
  pending[id] = 0;
#ifdef SHOW_DRAIN_AFTER_TAKEOVER
  y = held_begin;
  do
  :: y < held_end ->
    came_here = came_here || (drains && held[y] == out_from && held_by[y] != next.owner);
    y++
  :: else -> break
  od;
  assert(!came_here);
  x = hold_from;
  do
  :: x < hold_to && held_end + x - hold_from < ROWS ->
    held_by[held_end + x - hold_from] = next.owner; x++
  :: else -> break
  od;
#endif
  x = out_from;
  do
  :: x < out_to -> check_output(!drains); out[x]++; newest = (x + 1 > newest -> x + 1 : newest); x++
  :: else -> break
  od;
  x = hold_from;
  do
  :: x < hold_to && held_end < ROWS -> held[held_end] = x; held_end++; x++
  :: else -> break
  od;
  copy(committed, next);
  check_nothing_lost()
}

/* A late EndTxn of the last epoch is refused. */
inline next_epoch(id) {
#ifdef LATE_END
  late[id] = 0
#else
  skip
#endif
}

#define COMMITTED 1
#define UNKNOWN 2
#define FENCED 3
#define SENT 4

/* The transaction: offsets are sent with the member's generation... */
inline send_offsets(id, me, generation, number) {
  next.step++;
  next.owner = number;
  if
  :: holder[id] != me -> result = UNKNOWN
#ifndef NO_OWNER
  :: holder[id] == me && generation != member -> result = FENCED
  :: holder[id] == me && generation == member -> pending[id] = 1; result = SENT
#else
  :: holder[id] == me -> pending[id] = 1; result = SENT
#endif
  fi;
#ifdef LATE_END
  if
  :: result == SENT -> copy(sent[id], next)
  :: else
  fi
#endif
}

/* ...and then it is committed, unless another has aborted it. Part of an atomic block. */
inline commit(id, me) {
  if
  :: result == SENT && holder[id] == me && pending[id] ->
    d_step { apply_step(id); result = COMMITTED };
    if
    :: skip
    :: faults > 0 -> faults--; result = UNKNOWN   /* the answer is lost */
#ifdef LATE_END
    :: faults > 0 -> faults--; late[id] = 1
#endif
    fi
#if defined(LATE_END) && !defined(LATE_END_VERSION_1)
    ; next_epoch(id)
#endif
  :: result == SENT && (holder[id] != me || !pending[id]) -> result = UNKNOWN
  :: result != SENT
  fi
}

inline initialise(id, me) {   /* aborts what is open under the id, and fences who had it */
  d_step { holder[id] = me; pending[id] = 0; next_epoch(id) }
}

/* The committed offset is read once no transaction holds it in suspense (require_stable). */
#define is_stable (!pending[0] && !pending[1])

/* ---- a driver's threads ---- */

#define me_of(d) (d)
#define task_of(k) (DRIVERS + (k))
#define mine driver[d]

/* Compare, then act: the state is the committed one, or read again from status. */
inline compare() {
#ifndef NO_OWNER
  mine.gone = (committed.owner != d);
#endif
#ifdef TRUST_STATE
  /* Only where to go on is taken from what is committed. */
  mine.at_hand.offset = committed.offset; mine.at_hand.step = committed.step
#else
  copy(mine.at_hand, committed)
#endif
}

/* Who acted in this driver's name and may still do so is replaced. */
inline make_sure() {
  if
  :: mine.at_large ->
#ifndef NO_OWNER
    atomic { is_stable -> mine.gone = (committed.owner != d) };
#endif
    if
    :: !mine.gone ->
      d_step { member++; mine.member = member };
      initialise(TASK_ID, me_of(d));
      d_step { mine.at_large = 0; mine.uncertain = 1 }
    :: else
    fi
  :: else
  fi;
  if
  :: mine.uncertain && !mine.gone ->
    d_step { holder[DRIVER_ID] = me_of(d); pending[DRIVER_ID] = 0; mine.uncertain = 0 }
  :: else
  fi
}

#ifdef CONTROL_END_FIRST
#define READ_END_OF_CONTROL skip
#else
#define READ_END_OF_CONTROL control_end = commands
#endif

/* Take the lock, compare, and read the end of control: before every step. */
inline begin_step() {
  if
  :: atomic { !mine.lock && (mine.at_large || mine.uncertain) -> mine.lock = 1 };
    make_sure();
    atomic {
      is_stable || mine.gone ->
      if
      :: !mine.gone -> d_step { compare() }
      :: else
      fi;
      READ_END_OF_CONTROL
    }
  :: atomic {
      !mine.lock && !mine.at_large && !mine.uncertain && is_stable ->
      mine.lock = 1;
      d_step { compare() };
      READ_END_OF_CONTROL
    }
  fi
}

inline commit_as_driver() {
  atomic {
    commit(DRIVER_ID, me_of(d));
    d_step {
      if
      :: result == COMMITTED -> copy(mine.at_hand, next)
      :: result == UNKNOWN -> mine.uncertain = 1
      :: result == FENCED -> mine.gone = 1
      fi;
      forget_step()
    }
  }
}

inline start_driver() {
  d_step { member++; mine.member = member };
#ifdef READ_BEFORE_INIT
  atomic { is_stable -> d_step { copy(mine.at_hand, committed) } };
#endif
  initialise(DRIVER_ID, me_of(d));
  initialise(TASK_ID, me_of(d));
#ifndef READ_BEFORE_INIT
  atomic { is_stable -> d_step { copy(mine.at_hand, committed) } };
#endif
  d_step {
    copy(next, mine.at_hand);
    take_commands(commands, held_seen);
    send_offsets(DRIVER_ID, me_of(d), mine.member, d)
  };
  commit_as_driver();
  if
  :: mine.uncertain -> mine.gone = 1   /* its supervisor starts it again: another driver */
  :: else -> mine.started = 1
  fi
}

inline start_attempt() {
  attempts++;
  mine.awaits = attempts;
#ifdef TRUST_STATE
  copy(broadcast[attempts], mine.at_hand);
#endif
  run Task(attempts, d, mine.member, upto, control_end, end_of_held)
}

/* Wait for the batch's task; another attempt may begin while the first one goes on. */
inline await_job() {
  do
  :: atomic { mine.told == COMMITTED ->
      d_step { copy(mine.at_hand, committed) }; break }  /* the driver follows what it is told */
  :: atomic { mine.told > COMMITTED -> mine.at_large = 1; break }
  :: atomic { !mine.told && faults > 0 && attempts < TASKS -> faults--; start_attempt() }
  :: atomic { !mine.told && faults > 0 -> faults--; mine.at_large = 1; break }
  od;
  atomic { mine.awaits = 0; mine.told = 0 }
}

proctype Batches(byte d) {
  STEP_LOCALS;
  byte upto, control_end, end_of_held;

  start_driver();
  do
  :: mine.gone -> break
  :: !mine.gone && mine.at_hand.offset < EVENTS ->
#ifdef CONTROL_END_FIRST
    control_end = commands;
#endif
    /* Spark plans the range: up to the end of events, or less. */
    atomic {
      events > mine.at_hand.offset -> upto = events;
      do
      :: upto > mine.at_hand.offset + 1 -> upto--
      :: break
      od
    };
    begin_step();
    if
    :: mine.gone || mine.at_hand.offset >= upto -> skip
    :: else ->
      if
      :: d_step {
          copy(next, mine.at_hand);
          take_commands(control_end, held_seen);
          take_events(upto);
          send_offsets(DRIVER_ID, me_of(d), mine.member, d)
        };
        commit_as_driver()
      :: atomic { attempts < TASKS -> end_of_held = held_seen; start_attempt() };
        await_job()
      fi
    fi;
    d_step { mine.lock = 0; upto = 0; control_end = 0; end_of_held = 0 }
  od
}

#define could_trim(p) (p.trim < (p.state == ACTIVE -> held_seen : p.start))

proctype Keeper(byte d) {
  STEP_LOCALS;
  byte seen, point, control_end;

  mine.started || mine.gone;
  do
  :: mine.gone -> break
  :: atomic {
      (!mine.gone && (commands > mine.at_hand.control || mine.at_hand.state == DRAINING ||
                      could_trim(mine.at_hand))) ->
      seen = held_seen                           /* rows are read without the lock */
    };
#ifdef TRIM_WITHOUT_LOCK
    point = (mine.at_hand.state == ACTIVE -> 255 : mine.at_hand.start);
    point = (held_seen < point -> held_seen : point);
#endif
#ifdef CONTROL_END_FIRST
    control_end = commands;
#endif
    begin_step();
    if
    :: mine.gone -> skip
    :: else ->
      d_step {
        copy(next, mine.at_hand);
        take_commands(control_end, held_seen);
        if
        :: next.state == DRAINING && mine.at_hand.state == DRAINING -> drain(seen)
        :: else
        fi;
#ifndef TRIM_WITHOUT_LOCK
        point = (next.state == ACTIVE -> held_seen : next.start);
#endif
        if
        :: point > next.trim -> next.trim = point
        :: else
        fi;
        if
        :: (next.control != mine.at_hand.control || next.state != mine.at_hand.state ||
            out_to > 0 || next.trim != mine.at_hand.trim) ->
          send_offsets(DRIVER_ID, me_of(d), mine.member, d)
        :: else -> forget_step()
        fi
      };
      if
      :: result -> commit_as_driver()
      :: else
      fi
    fi;
    /* DeleteRecords, without the lock: only up to a committed trim point. */
    d_step {
      mine.lock = 0; seen = 0; point = 0; control_end = 0;
      if
      :: mine.at_hand.trim > held_begin -> held_begin = mine.at_hand.trim; check_nothing_lost()
      :: else
      fi
    }
  od
}

/* One attempt at a batch, for driver d. */
proctype Task(byte k, d, generation, upto, control_end, end_of_held) {
  STEP_LOCALS;
  Position at;
  byte step_upto;

#ifndef READ_BEFORE_INIT
  initialise(TASK_ID, task_of(k));
#endif
  atomic { is_stable -> d_step {
    copy(at, committed);
    result = COMMITTED;
#ifndef NO_OWNER
    if
    :: at.owner != d -> result = FENCED
    :: else
    fi;
#endif
#ifdef SHOW_SECOND_ATTEMPT
    came_here = (mine.awaits == k && at.step != mine.at_hand.step && at.offset < upto);
    assert(!came_here);
#endif
#ifdef TRUST_STATE
    at.state = broadcast[k].state; at.start = broadcast[k].start;
    at.drained = broadcast[k].drained; at.last = broadcast[k].last;
    at.control = broadcast[k].control
#endif
  } };
#ifdef READ_BEFORE_INIT
  initialise(TASK_ID, task_of(k));
#endif
  /* Its share, in as many steps as may be; all with the job's end of control. */
  do
  :: result == COMMITTED && at.offset < upto ->
    atomic {
      step_upto = upto;
      do
      :: step_upto > at.offset + 1 -> step_upto--
      :: break
      od;
      skip;
      d_step {
        copy(next, at);
        take_commands(control_end, end_of_held);
        take_events(step_upto);
        step_upto = 0;
        send_offsets(TASK_ID, task_of(k), generation, d)
      }
    };
    atomic {
      commit(TASK_ID, task_of(k));
      d_step {
        step_upto = result;
        if
        :: result == COMMITTED -> copy(at, next)
        :: else
        fi;
        forget_step();
        result = step_upto;
        step_upto = 0
      }
    }
  :: else -> break
  od;
  atomic {
    if
    :: mine.awaits == k -> mine.told = result
    :: else
    fi
  }
}

/* ---- the world ---- */

#ifdef LATE_END
/* An EndTxn that was answered long ago. If the coordinator takes it for the end of the open
 * transaction, the offsets are committed before the records have arrived. */
inline arrive_late(id) {
  d_step {
    late[id] = 0;
    if
    :: pending[id] -> pending[id] = 0; copy(committed, sent[id]); check_nothing_lost()
    :: else
    fi
  }
}
#endif

active proctype World() {
  do
  :: atomic { events < EVENTS -> sent_after[events] = commands; events++ }
  :: commands < COMMANDS -> commands++
  :: held_seen < held_end -> held_seen = held_end
  /* A transaction that nobody ends is aborted by its time-out. */
  :: atomic { pending[DRIVER_ID] ->
      pending[DRIVER_ID] = 0; holder[DRIVER_ID] = 0; next_epoch(DRIVER_ID) }
  :: atomic { pending[TASK_ID] ->
      pending[TASK_ID] = 0; holder[TASK_ID] = 0; next_epoch(TASK_ID) }
#ifdef LATE_END
  :: atomic { late[DRIVER_ID] -> arrive_late(DRIVER_ID) }
  :: atomic { late[TASK_ID] -> arrive_late(TASK_ID) }
#endif
  od
}

init {
  atomic {
    run Batches(1); run Keeper(1);
#if DRIVERS > 1
    run Batches(2); run Keeper(2)
#endif
  }
}
