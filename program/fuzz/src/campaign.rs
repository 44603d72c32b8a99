//! A run of the fuzzer: worker processes with a shared corpus, progress, and a summary.

use crate::case::{Case, Op};
use crate::elf::elf_path;
use crate::report::HEADLINE;
use crate::stats::Stats;
use haggle_program::instructions::INSTRUCTIONS;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest case, in bytes.
const MAX_CASE: usize = 2_048;
/// The time between progress lines.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// Runs with this many executions or more must reach every kind of event.
const FULL_RUN: u64 = 50_000;

/// The run's settings.
pub struct Campaign {
    /// The least number of executions of the program.
    pub executions: u64,
    /// The number of worker processes.
    pub workers: u64,
    /// The seed of libFuzzer's choices.
    pub seed: u32,
    /// The corpus directory, to continue in another run.
    pub corpus: PathBuf,
    /// The directory for the workers' logs and statistics.
    pub logs: PathBuf,
    /// The least share of the directions of the program's branches, in percent.
    pub floor: u64,
}

struct Worker {
    process: Child,
    log: PathBuf,
    stats: PathBuf,
}

impl Campaign {
    /// Runs the workers and prints the result. `environments` is the number of environments.
    pub fn run(&self, environments: usize) -> ExitCode {
        match self.try_run(environments) {
            Ok(code) => code,
            Err(error) => {
                eprintln!("fuzz: {error}");
                ExitCode::FAILURE
            }
        }
    }

    fn try_run(&self, environments: usize) -> std::io::Result<ExitCode> {
        fs::create_dir_all(&self.corpus)?;
        fs::create_dir_all(&self.logs)?;
        self.write_seeds(environments)?;
        println!(
            "fuzzing {}: {} executions in {} processes, seed {}, {} seeds",
            elf_path().display(),
            self.executions,
            self.workers,
            self.seed,
            fs::read_dir(&self.corpus)?.count(),
        );
        let start = Instant::now();
        let mut workers = Vec::new();
        for number in 0..self.workers {
            workers.push(self.start(number)?);
        }
        let mut shown = Instant::now();
        let mut failed = None;
        while failed.is_none() && workers.iter_mut().any(is_running) {
            sleep(Duration::from_millis(50));
            failed = workers.iter_mut().position(has_failed);
            if shown.elapsed() >= PROGRESS_EVERY {
                shown = Instant::now();
                progress(&gather(&workers), start);
            }
        }
        let failed = failed.or_else(|| workers.iter_mut().position(has_failed));
        for worker in &mut workers {
            if failed.is_some() && is_running(worker) {
                worker.process.kill()?;
            }
            worker.process.wait()?;
        }
        let stats = gather(&workers);
        progress(&stats, start);
        if let Some(failed) = failed {
            return explain(&workers[failed], &stats);
        }
        Ok(self.conclude(&stats))
    }

    /// Writes the seeds: each valid call in the matching environment, alone or followed by some moves.
    fn write_seeds(&self, environments: usize) -> std::io::Result<()> {
        for number in 0..environments {
            let single = Case::of_valid_call(number as u8);
            let mut scenario = single.clone();
            scenario.ops.extend((0..6).map(|_| Op::Move {
                deal: 0,
                choice: 0,
                variant: 0,
                wait: 0,
            }));
            for (kind, case) in [("call", single), ("scenario", scenario)] {
                let path = self.corpus.join(format!("{kind}-{number:03}"));
                fs::write(path, case.encode())?;
            }
        }
        Ok(())
    }

    fn start(&self, number: u64) -> std::io::Result<Worker> {
        let log = self.logs.join(format!("worker-{number}.log"));
        let stats = self.logs.join(format!("worker-{number}.stats"));
        let _ = fs::remove_file(&stats);
        let output = File::create(&log)?;
        let process = Command::new(std::env::current_exe()?)
            .arg("worker")
            .arg(self.executions.div_ceil(self.workers).to_string())
            .arg(&stats)
            .arg(format!("-seed={}", u64::from(self.seed) + number))
            .arg(format!("-max_len={MAX_CASE}"))
            .arg(format!("-artifact_prefix={}/", self.logs.display()))
            .args([
                "-reload=10",
                "-len_control=0",
                "-timeout=20",
                "-rss_limit_mb=4096",
                "-verbosity=1",
            ])
            .arg(&self.corpus)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        Ok(Worker {
            process,
            log,
            stats,
        })
    }

    fn conclude(&self, stats: &Stats) -> ExitCode {
        let mut missing: Vec<String> = Vec::new();
        for row in INSTRUCTIONS {
            if !stats.succeeded.contains_key(row.name) {
                missing.push(format!("{} has never succeeded", row.name));
            }
        }
        let share = 100 * stats.covered() as u64 / stats.seen.len().max(1) as u64;
        if share < self.floor {
            missing.push(format!(
                "only {share} % of the directions of branches were taken, at least {} % are required",
                self.floor
            ));
        }
        if stats.executions < self.executions {
            missing.push(format!(
                "the program was executed only {} times",
                stats.executions
            ));
        }
        let events = &stats.events;
        for (count, event) in [
            (events.recreations, "no session was created again"),
            (
                events.repeats_in_later_deals,
                "no signed call was sent again in a later deal",
            ),
            (events.recorded_payouts, "no payout was recorded"),
        ] {
            if count == 0 && self.executions >= FULL_RUN {
                missing.push(event.to_owned());
            }
        }
        let succeeded: u64 = stats.succeeded.values().sum();
        let returned: u64 = stats.returned.values().sum();
        println!(
            "{} cases: {succeeded} calls succeeded ({} instructions), {returned} returned {} of the \
             program's errors, {} were refused by a called program, {} by the runtime on accounts that no chain can hold",
            events.cases,
            stats.succeeded.len(),
            stats.returned.len(),
            events.refused,
            events.impossible,
        );
        println!(
            "{} sessions created again, {} signed calls repeated, {} of them in a later deal; {} calls \
             recorded a payout",
            events.recreations,
            events.repeats,
            events.repeats_in_later_deals,
            events.recorded_payouts,
        );
        if missing.is_empty() {
            println!(
                "fuzz: {} executions, no invariant violated, {} of {} directions of branches taken \
                 ({share} %, at least {} %)",
                stats.executions,
                stats.covered(),
                stats.seen.len(),
                self.floor,
            );
            return ExitCode::SUCCESS;
        }
        for reason in missing {
            println!("fuzz: {reason}");
        }
        ExitCode::FAILURE
    }
}

fn explain(worker: &Worker, stats: &Stats) -> std::io::Result<ExitCode> {
    let log = fs::read_to_string(&worker.log)?;
    let description = log.find(HEADLINE).map(|at| &log[at..]);
    match (description, &stats.violation) {
        (Some(description), Some(_)) => println!("{description}"),
        _ => println!(
            "{}\na worker has ended, see {}",
            last_lines(&log),
            worker.log.display()
        ),
    }
    Ok(ExitCode::FAILURE)
}

fn is_running(worker: &mut Worker) -> bool {
    matches!(worker.process.try_wait(), Ok(None))
}

fn has_failed(worker: &mut Worker) -> bool {
    matches!(worker.process.try_wait(), Ok(Some(status)) if !status.success())
}

fn gather(workers: &[Worker]) -> Stats {
    let mut sum = Stats::default();
    for worker in workers {
        sum.add(&Stats::read(&worker.stats));
    }
    sum
}

fn progress(stats: &Stats, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{seconds:6.0} s  {:>11} executions  {:>7.0}/s  {:>9} cases  {} of {} directions of branches",
        stats.executions,
        stats.executions as f64 / seconds,
        stats.events.cases,
        stats.covered(),
        stats.seen.len(),
    );
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
