//! A run: a process for each core, a corpus that they share, progress, and in the end what was reached.

use crate::case::Case;
use crate::tally::Tally;
use crate::virtual_machine::elf_path;
use haggle_program::instructions::INSTRUCTIONS;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a case can be, in bytes.
const LONGEST_CASE: usize = 1_024;
/// How often progress is shown.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// What a run is to do.
pub struct Campaign {
    /// How many cases are run at least.
    pub executions: u64,
    /// How many processes run them.
    pub workers: u64,
    /// What libFuzzer's choices follow from.
    pub seed: u32,
    /// Where cases that are worth keeping are kept, and found again by the next run.
    pub corpus: PathBuf,
    /// Where the workers write, each in files of its own.
    pub logs: PathBuf,
    /// The least share of the directions of the program's branches that has to be taken, in percent.
    pub floor: u64,
}

struct Worker {
    process: Child,
    log: PathBuf,
    tally: PathBuf,
}

impl Campaign {
    /// Runs it, and says how it went.
    pub fn run(&self, scenes: usize) -> ExitCode {
        match self.try_run(scenes) {
            Ok(code) => code,
            Err(error) => {
                eprintln!("fuzz: {error}");
                ExitCode::FAILURE
            }
        }
    }

    fn try_run(&self, scenes: usize) -> std::io::Result<ExitCode> {
        fs::create_dir_all(&self.corpus)?;
        fs::create_dir_all(&self.logs)?;
        self.sow(scenes)?;
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
        let tally = gather(&workers);
        progress(&tally, start);
        if let Some(failed) = failed {
            return self.explain(&workers[failed], &tally);
        }
        Ok(self.conclude(&tally))
    }

    /// The valid calls, each in its world, are what everything starts from.
    fn sow(&self, scenes: usize) -> std::io::Result<()> {
        for scene in 0..scenes {
            let case = Case {
                world: scene as u8,
                call: scene as u8,
                edits: Vec::new(),
            };
            fs::write(self.corpus.join(format!("scene-{scene:03}")), case.encode())?;
        }
        Ok(())
    }

    fn start(&self, number: u64) -> std::io::Result<Worker> {
        let log = self.logs.join(format!("worker-{number}.log"));
        let tally = self.logs.join(format!("worker-{number}.tally"));
        let _ = fs::remove_file(&tally);
        let output = File::create(&log)?;
        let process = Command::new(std::env::current_exe()?)
            .arg("worker")
            .arg(&tally)
            .arg(format!("-runs={}", self.executions.div_ceil(self.workers)))
            .arg(format!("-seed={}", u64::from(self.seed) + number))
            .arg(format!("-max_len={LONGEST_CASE}"))
            .arg(format!("-artifact_prefix={}/", self.logs.display()))
            .args([
                "-reload=10",
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
            tally,
        })
    }

    fn explain(&self, worker: &Worker, tally: &Tally) -> std::io::Result<ExitCode> {
        let log = fs::read_to_string(&worker.log)?;
        let story = log.find("A law is broken").map(|at| &log[at..]);
        match (story, &tally.broken) {
            (Some(story), Some(_)) => println!("{story}"),
            _ => println!(
                "{}\na worker has ended, see {}",
                last_lines(&log),
                worker.log.display()
            ),
        }
        Ok(ExitCode::FAILURE)
    }

    fn conclude(&self, tally: &Tally) -> ExitCode {
        let mut missing: Vec<String> = Vec::new();
        for row in INSTRUCTIONS {
            if !tally.succeeded.contains_key(row.name) {
                missing.push(format!("{} has never succeeded", row.name));
            }
        }
        let share = 100 * tally.covered() as u64 / tally.seen.len().max(1) as u64;
        if share < self.floor {
            missing.push(format!(
                "only {share} % of the directions of branches were taken, and {} % have to be",
                self.floor
            ));
        }
        if tally.executions < self.executions {
            missing.push(format!("only {} cases were run", tally.executions));
        }
        let succeeded: u64 = tally.succeeded.values().sum();
        let returned: u64 = tally.returned.values().sum();
        println!(
            "{succeeded} succeeded ({} instructions), {returned} were answered with {} of the program's errors, \
             {} were refused by a program that was called, {} by the runtime on accounts that no chain can hold",
            tally.succeeded.len(),
            tally.returned.len(),
            tally.refused,
            tally.impossible,
        );
        if missing.is_empty() {
            println!(
                "fuzz: {} executions, no law broken, {} of {} directions of branches taken ({share} %, at least {} %)",
                tally.executions,
                tally.covered(),
                tally.seen.len(),
                self.floor,
            );
            return ExitCode::SUCCESS;
        }
        for what in missing {
            println!("fuzz: {what}");
        }
        ExitCode::FAILURE
    }
}

fn is_running(worker: &mut Worker) -> bool {
    matches!(worker.process.try_wait(), Ok(None))
}

fn has_failed(worker: &mut Worker) -> bool {
    matches!(worker.process.try_wait(), Ok(Some(status)) if !status.success())
}

fn gather(workers: &[Worker]) -> Tally {
    let mut sum = Tally::default();
    for worker in workers {
        sum.add(&Tally::read(&worker.tally));
    }
    sum
}

fn progress(tally: &Tally, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{seconds:6.0} s  {:>11} executions  {:>7.0}/s  {} of {} directions of branches",
        tally.executions,
        tally.executions as f64 / seconds,
        tally.covered(),
        tally.seen.len(),
    );
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
